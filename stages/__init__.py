"""One thin file a stage: read settings and tables, make one call into brido, write tables."""

import brido  # noqa: F401  (answers Ctrl-C and SIGTERM while a stage imports)
from stages import seconds

seconds.measure()
