"""`python -m brido` is `brido`, where only the checkout is there and nothing is installed."""

from brido.cli.main import main
from brido.utils.errors import run_command

if __name__ == "__main__":
    run_command(lambda: main(program="python -m brido"))
