"""Stage guide: a system that a checkpoint writes with guidance, without any tuning.

    python -m stages.guide SYSTEM

Other documents' likely words are taken away while it writes (`brido.search.guidance`).
"""

from brido.settings.load import load_params
from brido.utils.errors import run_command
from stages.arguments import name_given
from stages.decode import decode


def main() -> None:
    """Write data/decoded/SYSTEM/{validation,test}.parquet for a key of `guidance`."""
    params = load_params()
    system = name_given("guide", "SYSTEM", params.guidance, "a key of `guidance`")
    decode(params, system, guidance=params.guidance[system])


if __name__ == "__main__":
    run_command(main)
