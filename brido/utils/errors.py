"""The exception for everything that a user can cause, what it quotes, and how it is shown."""

import difflib
import errno
import io
import reprlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NoReturn, cast

from brido.utils.progress import show_messages
from brido.utils.signals import Stopped, answering, stop

_LONGEST_REASON = 300
_KEPT = "finished work is kept, run again to go on"
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 80
_SHORT.maxlist = 20


class BridoError(Exception):
    """What is wrong, where, and what to do about it, in sentences a user can act on.

    Raise it for anything a user can cause (settings, files, tables, a full disk, a server that is
    down). Programming errors keep Python's own exceptions and their traceback.
    """

    @classmethod
    def from_problems(cls, heading: str, problems: Iterable[str]) -> "BridoError":
        """One error that lists every problem, so that a user fixes all of them in one go."""
        return cls("\n".join([heading, *(f"  - {problem}" for problem in problems)]))


class ArgumentError(BridoError, ValueError):
    """An argument of a public function that it cannot work on; to Python a ValueError too."""


def quoted(value: Any) -> str:
    """A value of a user's file or call as Python writes it, cut to a line.

    A text may be of any length and contain control sequences; both stay out of messages.
    """
    try:
        return _SHORT.repr(value).replace("\n", " ")
    except ValueError:
        return "a number of thousands of digits"  # which Python refuses to write


def short(text: str) -> str:
    """A text as `quoted`, without the quotes."""
    return quoted(text)[1:-1]


def some(items: Sequence[str], limit: int = 5) -> str:
    """`a, b, c`, each as `short`, with `, ...` where there are more than `limit`."""
    return ", ".join(map(short, items[:limit])) + (", ..." if len(items) > limit else "")


def close_to(name: str, known: Iterable[str], prefix: str = "") -> str:
    """Return `; did you mean X?` for a misspelt name, else `; known here: ...` with all of them."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1)
    if close:
        return f"; did you mean {prefix}{close[0]}?"
    return f"; known here: {', '.join(names)}" if names else ""


def first_line(error: BaseException) -> str:
    """The first line of an error's message that is not blank."""
    if isinstance(error, RecursionError | MemoryError):
        return "it is nested too deeply, or the memory does not suffice"
    text = getattr(error, "strerror", None) or str(error)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return printable(lines[0][:_LONGEST_REASON]) if lines else type(error).__name__


def printable(message: str) -> str:
    """A message with its control characters escaped: a parser's reason may quote a file."""
    return "".join(
        sign if sign.isprintable() or sign in "\n\t" else sign.encode("unicode_escape").decode()
        for sign in message
    )


@contextmanager
def parsing(sentence: Callable[[str], str]) -> Iterator[None]:
    """Turn every exception of a parser in the block into a BridoError.

    Parsers raise ValueError, RecursionError, UnicodeError, OSError, MemoryError and their own
    kinds. `sentence(reason)` is the message; `reason` is a line of the parser's message.
    """
    try:
        yield
    except BridoError:
        raise
    except Exception as error:
        raise BridoError(sentence(first_line(error))) from None


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error and its causes, nearest first."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def is_disk_full(error: BaseException) -> bool:
    """Whether an error or one of its causes comes from a full disk or a limit on files' sizes."""
    numbers = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
    # Rust and C++ give words alone.
    words = ("No space left on device", "File too large")
    return any(
        getattr(item, "errno", None) in numbers or any(word in str(item) for word in words)
        for item in causes(error)
    )


def speak_plainly() -> None:
    """From here on a BridoError that ends the process is its sentence, without a traceback.

    For what a command imports before `run_command` can answer: a package may be missing.
    """
    former = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        if isinstance(error, BridoError):
            print(printable(f"error: {error}"), file=sys.stderr)
        else:
            former(kind, error, trace)

    sys.excepthook = show


def run_command(main: Callable[[], None]) -> None:
    """Run a stage or command line: what a user can cause or do ends it with a sentence.

    A BridoError becomes a message on stderr and exit code 2; SIGTERM and Ctrl-C say what is kept
    and end with 128 and their number, as shells have it.
    """
    with suppress(AttributeError):  # stdout is closed
        # A terminal that lacks a sign shows its number.
        cast(io.TextIOWrapper, sys.stdout).reconfigure(errors="backslashreplace")
    show_messages()
    with answering(lambda number, _: stop(number)):
        try:
            main()
        except BridoError as error:
            _end(f"error: {error}", 2)
        except BrokenPipeError:
            # The reader of our output (`| head`) went away, which is not an error of ours.
            sys.stderr.close()
            raise SystemExit(0) from None
        except (Exception, KeyboardInterrupt) as error:
            # A library may answer a stop with an error of its own, as torch.save does.
            for cause in causes(error):
                if isinstance(cause, KeyboardInterrupt):
                    number = getattr(cause, "number", Stopped.number)
                    _end(f"interrupted; {str(cause) or _KEPT}", 128 + number)
                if isinstance(cause, MemoryError):
                    _end(f"error: the memory does not suffice; {_KEPT}", 2)
            # Files that are not ours, such as a library's cache, grow as well.
            if is_disk_full(error):
                _end(f"error: the disk is full ({first_line(error)}): free some; {_KEPT}", 2)
            raise


def _end(message: str, code: int) -> NoReturn:
    print(printable(message), file=sys.stderr, flush=True)
    raise SystemExit(code) from None
