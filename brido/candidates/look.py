"""A look at candidates before they vote: a vote among texts that are not summaries means nothing.

The rules are the same for every language. They find candidates that were cut, that are all alike,
that are far shorter or longer than the references, in another script than the document, or full of
markup.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

ODD = ("other_script", "markup_left")

# A script with a smaller share of a document's letters is not one that the document is written in.
LEAST_SHARE = 0.1
# Candidates are not a basis for a vote if fewer of them ended,
LEAST_ENDED = 0.8
# if a smaller share of a document's candidates is distinct (or fewer than two of them are),
LEAST_DISTINCT = 0.2
FEWEST_DISTINCT = 2.0
# or if a larger share of them is what the words say.
MOST = {
    "too_short": (0.5, "are less than half as long as the references"),
    "too_long": (0.5, "are more than twice as long as the references"),
    "other_script": (0.2, "are in another script than the document"),
    "markup_left": (0.2, "have markup left"),
}
# Fewer documents tell nothing about a source.
FEWEST_DOCUMENTS = 8
# Characters of a text that are shown.
SHOWN = 160

_TRAIN = "train its checkpoint on more references"
# By method, what to do if candidates are cut, if they are alike, and if they are not summaries.
_REMEDIES = {
    "diverse_beam": (f"raise {{}}.max_length, or {_TRAIN}", "raise {}.diversity_penalty", _TRAIN),
    "sampling": (f"raise {{}}.max_length, or {_TRAIN}", "raise {}.temperature", _TRAIN),
    "endpoint": (
        "raise {}.max_answer_tokens",
        "raise {}.temperature",
        "change its prompt in reading",
    ),
    "files": ("put other texts into {}.files",) * 3,
}

_MARKUP = {
    "tag": re.compile(r"</?[A-Za-z][\w:.-]*(?:\s[^<>]*)?/?>|&(?:[a-z]{2,8}|#\d{1,6});"),
    "formula": re.compile(r"\\[A-Za-z]{2,}|\\[()\[\]]|\$[^$\s][^$\\^_]*[\\^_][^$]*\$"),
    "fence": re.compile(r"```"),
    "bold": re.compile(r"\*\*"),
    "table": re.compile(r"\|\s*:?-{3,}:?\s*\||\A\s*\|(?:[^|]*\|){2,}\s*\Z"),
}


class Example(NamedTuple):
    """One document with what a source wrote about it; `references` may be empty."""

    document: str
    references: Sequence[str]
    candidates: Sequence[str]
    ended: Sequence[bool]


class Look:
    """What the candidates of one source look like, counted document by document.

    `counts` holds documents, candidates, ended, distinct, other_script, markup_left and, of those
    that have references (compared), too_short and too_long.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def add(self, example: Example) -> None:
        """Count the cleaned candidates of one document."""
        texts, odd = example.candidates, OddOnes(example.document)
        self.counts.update(
            documents=1,
            candidates=len(texts),
            ended=sum(example.ended),
            distinct=len(set(texts)),
        )
        for text in texts:
            self.counts.update(odd(text))
        lengths = [len(text.strip()) for text in example.references if text.strip()]
        if lengths:
            self.counts.update(
                compared=len(texts),
                too_short=sum(2 * len(text) < min(lengths) for text in texts),
                too_long=sum(len(text) > 2 * max(lengths) for text in texts),
            )

    def share(self, name: str) -> float:
        """Return the share of the candidates that `name` counts; 0 if there are none."""
        whole = "compared" if name in ("too_short", "too_long") else "candidates"
        return self.counts[name] / max(self.counts[whole], 1)

    def summary(self) -> str:
        """Return what a user should see of all candidates, in one line."""
        words = {"ended": "ended", "distinct": "are distinct"}
        shown = MOST if self.counts["compared"] else ODD
        words |= {name: MOST[name][1] for name in shown}
        return ", ".join(f"{self.share(name):.0%} {text}" for name, text in words.items())

    def warning(self, source: str, method: str) -> str | None:
        """Return one sentence, with causes and keys, if the candidates are not a basis for a vote.

        Return None if there are too few documents to tell.

        source, method: the source's name in `generation`, and its method.
        """
        enough = self.counts["documents"] >= FEWEST_DOCUMENTS and self.counts["candidates"]
        causes = list(self._causes(source, method)) if enough else []
        if not causes:
            return None
        return f"the candidates of {source} cannot support a vote: {'; '.join(causes)}"

    def _causes(self, source: str, method: str) -> Iterator[str]:
        remedies = _REMEDIES.get(method, ("change {}",) * 3)
        cut, alike, style = (text.format(f"generation.{source}") for text in remedies)
        if self.share("ended") < LEAST_ENDED:
            yield f"only {self.share('ended'):.0%} reached their end ({cut})"
        distinct = self.counts["distinct"] / self.counts["documents"]
        size = self.counts["candidates"] / self.counts["documents"]
        if size > 1 and distinct < max(FEWEST_DISTINCT, LEAST_DISTINCT * size):
            yield (
                f"only {distinct:.1f} of {size:.0f} candidates of a document are different "
                f"({alike})"
            )
        for name, (most, words) in MOST.items():
            if self.share(name) > most:
                yield f"{self.share(name):.0%} {words} ({style})"


def example_lines(example: Example) -> Iterator[str]:
    """Yield lines for a terminal: a document's reference and its first three candidates."""
    if example.references:
        yield f"reference: {_line(example.references[0])}"
    for text, ended in zip(example.candidates[:3], example.ended, strict=False):
        yield f"candidate: {_line(text)}{'' if ended else ' (did not end)'}"


def _line(text: str) -> str:
    """Return a text in one line, cut and quoted, without characters that a terminal obeys."""
    text = " ".join(text.split())
    return repr(text if len(text) <= SHOWN else text[: SHOWN - 3] + "...")


class OddOnes:
    """One document, and what is odd in texts about it."""

    def __init__(self, document: str) -> None:
        letters = _scripts(document)
        least = LEAST_SHARE * letters.total()
        self._scripts = {script for script, count in letters.items() if count >= least}
        self._markup = _markup(document)

    def __call__(self, text: str) -> tuple[str, ...]:
        """Return which of ODD is true of a cleaned candidate.

        other_script: more than half of its letters are of scripts with less than LEAST_SHARE of the
        document's letters, which has some. markup_left: it has a tag, a formula's commands, a
        fence, bold type or a table, and the document has none of that kind.
        """
        letters = _scripts(text)
        strange = sum(count for script, count in letters.items() if script not in self._scripts)
        found = bool(self._scripts) and 2 * strange > letters.total(), _markup(text) - self._markup
        return tuple(name for name, it in zip(ODD, found, strict=True) if it)


def _markup(text: str) -> set[str]:
    return {kind for kind, pattern in _MARKUP.items() if pattern.search(text)}


def _scripts(text: str) -> Counter[str]:
    if text.isascii():
        count = sum(map(str.isalpha, text))
        return Counter({"LATIN": count} if count else {})
    found: Counter[str] = Counter()
    for character, count in Counter(text).items():
        if script := _script(character):
            found[script] += count
    return found


@lru_cache(maxsize=65536)
def _script(character: str) -> str:
    """Return the script of a letter, the first word of its name in Unicode; "" for the rest.

    Letters that stand for others (full width, mathematical, the micro sign) count as those.
    """
    plain = unicodedata.normalize("NFKC", character)[:1]
    if unicodedata.category(plain or character) not in {"Lu", "Ll", "Lt", "Lo"}:
        return ""
    return unicodedata.name(plain, "").partition(" ")[0]
