"""The one exception that a user of BRIDO meets, and how a command line shows it."""

import errno
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence


class BridoError(Exception):
    """What is wrong, where, and what to do about it, in sentences a user can act on.

    Raise it for anything a user can cause (settings, files, tables, a full disk, a server that is
    down). Programming errors keep Python's own exceptions and their traceback.
    """

    @classmethod
    def from_problems(
        cls, heading: str, problems: Iterable[str], limit: int | None = None
    ) -> "BridoError":
        """One error that lists every problem, so that a user fixes all of them in one go.

        Of more than `limit` problems the others are counted.
        """
        lines = [f"  - {problem}" for problem in problems]
        if limit is not None and len(lines) > limit:
            lines[limit:] = [f"  - and {len(lines) - limit:,} more"]
        return cls("\n".join([heading, *lines]))


def some(items: Sequence[str], limit: int = 5) -> str:
    """`a, b, c`, with `, ...` where there are more than `limit`."""
    return ", ".join(items[:limit]) + (", ..." if len(items) > limit else "")


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error and the errors behind it, nearest first."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def is_disk_full(error: BaseException) -> bool:
    """Whether an error comes from a full disk; writers in Rust and C++ say so in words alone."""
    return any(
        getattr(item, "errno", None) in {errno.ENOSPC, errno.EDQUOT}
        or "No space left on device" in str(item)
        for item in causes(error)
    )


def run_command(main: Callable[[], None]) -> None:
    """Run a stage or command line; a BridoError becomes a message on stderr and exit code 2."""
    try:
        main()
    except BridoError as error:
        print(f"error: {error}", file=sys.stderr, flush=True)
        raise SystemExit(2) from None
    except BrokenPipeError:
        # The reader of our output (`| head`) went away: not an error of ours.
        sys.stderr.close()
        raise SystemExit(0) from None
    except KeyboardInterrupt:
        print("interrupted; finished work is kept, run again to go on", file=sys.stderr, flush=True)
        raise SystemExit(130) from None
