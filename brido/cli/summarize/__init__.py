"""Summaries of new documents: `brido summarize articles.jsonl -o summaries.jsonl`."""

from pathlib import Path
from typing import Any

import click

from brido.cli.shared import max_bad_option, output_options, prompt_option


@click.command("summarize")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option(
    "--model",
    type=click.Path(path_type=Path),
    help="A model's folder. Default: data/chosen, the system that this project's run chose.",
)
@click.option("--system", metavar="NAME", help="Another system of this project, such as base.")
@output_options("The file to write (.jsonl). Default: stdout (-).")
@click.option(
    "--resume", is_flag=True, help="Go on behind the documents that OUTPUT.partial already has."
)
@click.option("--text", "whole", is_flag=True, help="Read each file as one document.")
@click.option(
    "--document-column",
    metavar="NAME",
    help="The column (key) with the documents. Default: the run's own, or a usual one.",
)
@click.option(
    "--id-column", metavar="NAME", help="The column of the ids. Default: the run's own, or id."
)
@click.option(
    "--keep-columns",
    is_flag=True,
    help="Write the row's own columns too, before the new ones; of two of one name yours is "
    "given_NAME.",
)
@max_bad_option
@click.option(
    "--guided/--no-guided",
    default=None,
    help="Let the other documents of the input guide the search: words that they make likely too "
    "count less. Default: as the system was decoded.",
)
@click.option(
    "--checked/--no-checked",
    default=None,
    help="Where a summary fails the check (nothing unsupported, and whole), write candidates and "
    "return one that passes. Default: as the system was decoded.",
)
@click.option(
    "--candidates",
    type=click.IntRange(min=2),
    metavar="N",
    help="Write N diverse candidates of each document and return the one most like the others.",
)
@prompt_option("Replaces the model's prompt.")
@click.option("--max-source-tokens", type=int, help="Tokens that the model reads.")
@click.option("--max-length", type=int, help="Most tokens of a summary.")
@click.option("--num-beams", type=int, help="Beams of the search.")
@click.option("--device", help="cpu, cuda, cuda:1 ... Default: one worker on each GPU, or the CPU.")
@click.option("--threads", type=int, help="Threads of PyTorch on a processor; 0: all cores.")
@click.option("--batch-tokens", type=int, help="Size of a batch; see runtime.batch_tokens.")
@click.option(
    "--shard-documents",
    type=int,
    help="Documents that are written at once (25). Fewer: the first lines come sooner.",
)
def command(files: tuple[str, ...], **options: Any) -> None:
    """Summarize the documents of FILE... (default: stdin) and write a JSON line for each, in order.

    \b
    Reads  .jsonl .ndjson .json .csv .tsv .parquet: the column document, article, text or similar
           .txt .md: a document a line, or with --text a document a file
           stdin: JSON if it begins as objects do, or an array; else a document a line
    Writes id          the row's id, else its number
           summary     of the document, white space in its lines tidied as in the pipeline
           ended       false: the summary stops at the length limit
           flaw        no sentence, repeats, cut, too long (for its document); or empty
           cut         share of the document's tokens that the model did not read
           unsupported numbers and names that the document does not hold, with their places
           agreement   with --candidates: mean similarity with the other candidates
           log_probability  where the model's own search wrote it, unguided: mean log p a token
           passes      with --checked: false: neither the summary nor a candidate passed

    Summaries go to --output or stdout, everything else to stderr. Lines that were written stay:
    with --output they are in OUTPUT.partial until all are there.

    A guided document needs 4 others with different texts (100 documents guide each other).

    \b
    Example:
        brido summarize --model my/model articles.jsonl -o summaries.jsonl
    """
    from brido.cli.summarize.run import summarize

    summarize(files, options)
