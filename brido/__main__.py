"""`python -m brido` is `brido`, in a checkout where nothing is installed."""

from brido.utils.errors import run_command
from brido.utils.extras import extra


def main() -> None:
    """Run the command that the command line names."""
    # Outside of the environment not even click is there.
    with extra():
        from brido.cli.main import main as commands

    commands(program="python -m brido")


if __name__ == "__main__":
    run_command(main)
