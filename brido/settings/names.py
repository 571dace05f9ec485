"""Names of the user's own: keys of sections that other keys name."""

import re
from collections.abc import Iterable, Iterator, Sequence

from brido.utils.errors import quoted


def no_key(key: str, name: str, section: str, known: Sequence[str]) -> str:
    """The sentence about a key that names something which `section` does not have."""
    return f"{key}: {quoted(name)} is not a key of {section}; known here: {', '.join(known)}"


def bad_names(section: str, names: Iterable[str], taken: Sequence[str] = ()) -> Iterator[str]:
    """What is wrong with names that become folders; taken: names that are in use already."""
    known = {name.lower() for name in taken}  # folders, and some disks ignore capitals
    for name in names:
        if not re.fullmatch(r"[A-Za-z0-9_]{1,64}", name):
            yield f"{section}: {quoted(name)} must consist of 1 to 64 letters, digits and _ only"
        if name.lower() in known:
            what = "because it is taken, in capitals or not"
            yield f"{section}: `{name}` cannot be a name here, {what}: choose another"
        known.add(name.lower())
