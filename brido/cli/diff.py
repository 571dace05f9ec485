"""Two commits or experiments compared with intervals: `brido diff main half`."""

import click


@click.command("diff")
@click.argument("old", metavar="[REV_A]", default="HEAD")
@click.argument("new", metavar="[REV_B]", default="workspace")
def command(old: str, new: str) -> None:
    """Compare two runs on the same test documents: base, the kept system and the control.

    REV_A (default: HEAD) and REV_B (default: workspace, the files as they are) are commits,
    branches or experiments, as `dvc exp show` names them. An interval that holds 0 says that the
    two may be equally good.

    \b
    Example:
        brido diff main half
    """
    from brido.report.revisions import compare, read_revision
    from brido.report.settings import ReportSettings

    click.echo(compare(read_revision(old), read_revision(new), ReportSettings()))
