"""`make bench`: every benchmark that needs no GPU and no other environment, one after the other.

`python -m benchmarks.NAME --help` says what one of them takes. Not among these: search (it compares
with transformers 4.55.4 in an environment of its own), likelihood (minutes) and engines.
"""

import subprocess
import sys

BENCHMARKS = {
    "rouge": [],
    "training": ["--quick"],
    "prompts": ["--tokens", "16"],
}


def main() -> None:
    """Run them in turn; the exit code is that of the first that fails."""
    for name, arguments in BENCHMARKS.items():
        print(f"\n== benchmarks.{name} {' '.join(arguments)}", flush=True)
        done = subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *arguments])
        if done.returncode:
            raise SystemExit(done.returncode)


if __name__ == "__main__":
    main()
