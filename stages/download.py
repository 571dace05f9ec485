"""Stage download: documents and references of the three splits become data/corpus.

The references are also written as if a system had made them (data/decoded/reference), so that they
are evaluated like any other.
"""

from brido.corpus.source import open_source
from brido.corpus.write import write_corpus, write_references
from brido.settings.load import load_params
from brido.utils.atomic import write_text
from brido.utils.errors import run_command
from stages import paths


def main() -> None:
    """Write data/corpus, data/decoded/reference and data/checkpoints/none."""
    params = load_params()
    corpus = paths.corpus("train").parent
    write_corpus(open_source(params.data), params.data, corpus, params.runtime.log_seconds)
    write_references(corpus, paths.decoded("reference", "test").parent)
    # DVC cannot leave a dependency away: sources without a checkpoint depend on this.
    write_text(
        paths.checkpoint("none") / "README", "Sources without a checkpoint depend on this.\n"
    )


if __name__ == "__main__":
    run_command(main)
