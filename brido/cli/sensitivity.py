"""What a check sees in a file of documents and people's summaries: `brido sensitivity mentions`."""

import click

from brido.cli.evaluate import metric_options, read_inputs, read_settings
from brido.cli.shared import max_bad_option


@click.command("sensitivity")
@metric_options
@click.option("--seed", default=0, help="Decides which errors are planted.")
@max_bad_option
def command(
    metric: str, file: str, changes: tuple[str, ...], dry_run: bool, seed: int, max_bad: float
) -> None:
    """Say which errors METRIC notices in the summaries in FILE (default: stdin).

    METRIC is one that says what a document supports: mentions, minicheck, qafacteval or geval. Each
    row of FILE has `document` and `summary`, which people wrote. One error of each kind is planted
    in each summary; the table says which share of them METRIC notices, and how many of the
    untouched summaries it calls unsupported.

    \b
    Example:
        brido sensitivity mentions summaries.jsonl
    """
    from brido.checkers.seeing import table_of
    from brido.endpoint import DryRun
    from brido.evaluation.planted import metric_sensitivity
    from brido.evaluation.registry import find_metric
    from brido.report.seen import seen_line
    from brido.report.summary import aligned

    settings, runtime = read_settings(metric, changes, dry_run)
    inputs = read_inputs(file, max_bad)
    texts = (inputs.documents, inputs.summaries)
    try:
        found = metric_sensitivity(
            find_metric(metric), *texts, seed, settings=settings, runtime=runtime
        )
    except DryRun as forecast:
        click.echo(str(forecast))
        return
    click.echo(f"{aligned(table_of({metric: found}))}\n\n{seen_line({metric: found}, metric)}")
