"""`python -m brido.init`."""

from brido.errors import run_command
from brido.init import main

if __name__ == "__main__":
    run_command(main)
