"""One error planted in each reference, by rules and without a model.

The errors are FactCC's transformations (Kryscinski et al. 2020, section 3.1): names swapped, a
number changed, a name from elsewhere; and beside these a sentence that is cut and another
document's summary.
"""

import random
import re
from collections.abc import Iterator, Sequence

from brido.checkers.mentions import capitalised_spans, placeholders, speakers_of
from brido.checkers.numbers import known_numbers, numbers_of
from brido.text.words import split_sentences

# The kinds of errors, in the order of a table.
KINDS = ("swapped names", "changed number", "invented name", "cut sentence", "other summary")


def planted(
    documents: Sequence[str], references: Sequence[str], seed: int = 0
) -> Iterator[tuple[int, str, str]]:
    """Each planted error: the document's number, the kind, and the reference with the error."""
    names = [names_of(text) for text in documents]
    for index, (document, reference) in enumerate(zip(documents, references, strict=True)):
        rng = random.Random(f"{seed} {index}")
        other = rng.choice([place for place in range(len(documents)) if place != index])
        made = (
            _swapped(reference, names[index], rng),
            _changed(document, reference, rng),
            _invented(document, reference, names[other], rng),
            _cut(reference),
            references[other],
        )
        for kind, text in zip(KINDS, made, strict=True):
            if text is not None and text != reference:
                yield index, kind, text


def names_of(text: str) -> list[str]:
    """The names of a text, each once: placeholders, speakers, and capitals inside sentences."""
    found = placeholders(text) + speakers_of(text)
    for sentence in split_sentences(text):
        found += [words for words, start, _ in capitalised_spans(sentence) if start]
    return list(dict.fromkeys(name for name in found if len(name) > 1))


def _swapped(reference: str, names: Sequence[str], rng: random.Random) -> str | None:
    """Two names of the reference change places, or its one name becomes another of the document."""
    there = [name for name in names if _whole(name).search(reference)]
    if len(there) >= 2:
        first, second = rng.sample(there, 2)
        if first in second or second in first:
            return None
        hidden = _whole(first).sub("\0", reference)
        return _whole(second).sub(lambda _: first, hidden).replace("\0", second)
    # "Ann Lee" is the same person as "Ann".
    others = [name for name in names if name not in reference and there and there[0] not in name]
    if not others:
        return None
    other = rng.choice(others)
    return _whole(there[0]).sub(lambda _: other, reference)


def _whole(name: str) -> re.Pattern[str]:
    """Finds a name, but not inside a longer word; scripts without capitals do not part words."""
    edge = r"\w" if name[0].lower() != name[0].upper() else "(?!)"
    return re.compile(rf"(?<!{edge}){re.escape(name)}(?!{edge})")


def _changed(document: str, reference: str, rng: random.Random) -> str | None:
    """A number becomes one that the document does not have."""
    numbers = [one for one in numbers_of(reference) if one.values != {"1"}]
    if not numbers:
        return None
    one, known = rng.choice(numbers), known_numbers(document)
    old = reference[one.start : one.end]
    digits = [place for place, sign in enumerate(old) if sign.isascii() and sign.isdigit()]
    if not digits:
        value = float(min(one.values))
        free = [text for more in range(1, 20) if (text := f"{value + more:.15g}") not in known]
        if not free:
            return None
        return reference[: one.start] + rng.choice(free) + reference[one.end :]
    for _ in range(20):
        place = rng.choice(digits)
        sign = rng.choice([sign for sign in "23456789" if sign != old[place]])
        new = reference[: one.start] + old[:place] + sign + old[place + 1 :] + reference[one.end :]
        own = [each for each in numbers_of(new) if each.start == one.start]
        if own and not own[0].values & known:
            return new
    return None


def _invented(
    document: str, reference: str, foreign: Sequence[str], rng: random.Random
) -> str | None:
    """A name of the reference becomes one that only another document has."""
    own = names_of(reference)
    there = [name for name in own if name in document] or own
    new = [name for name in foreign if name.lower() not in document.lower()]
    if not there or not new:
        return None
    return reference.replace(rng.choice(there), rng.choice(new), 1)


def _cut(reference: str) -> str | None:
    """The last sentence loses its second half."""
    sentence = split_sentences(reference)[-1] if reference.strip() else ""
    words = sentence.split()
    if len(words) < 4:
        return None
    start = reference.rindex(sentence)
    return reference[:start] + " ".join(words[: len(words) // 2])
