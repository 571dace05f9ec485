"""`python -m brido init`."""

from brido.cli.init import main
from brido.utils.errors import run_command

if __name__ == "__main__":
    run_command(main)
