"""A look at candidates before they vote: a vote among texts that are not summaries means nothing.

The rules are the same for every language. They find candidates that were cut, that are all alike,
or that are far shorter or longer than the references.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

# Candidates are not a basis for a vote if fewer of them ended,
LEAST_ENDED = 0.8
# if a smaller share of a document's candidates is distinct (or fewer than two of them are),
LEAST_DISTINCT = 0.2
FEWEST_DISTINCT = 2.0
# or if a larger share of them is what the words say.
MOST = {
    "too_short": (0.5, "are less than half as long as the references"),
    "too_long": (0.5, "are more than twice as long as the references"),
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
        "where finish_reasons says length, raise {}.max_answer_tokens; where it says tool_calls, "
        "switch the server's tools off",
        "raise {}.temperature",
        "change its prompt in reading",
    ),
    "files": ("put other texts into {}.files",) * 3,
}
_COMMON = frozenset(("the", "of", "and", "to", "in", "a"))


class Example(NamedTuple):
    """One document with what a source wrote about it; `references` may be empty."""

    document: str
    references: Sequence[str]
    candidates: Sequence[str]
    ended: Sequence[bool]


class Look:
    """What the candidates of one source look like, counted document by document.

    `counts` holds documents, those that look English, candidates, ended, distinct and, of those
    that have references (compared), too_short and too_long.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def add(self, example: Example) -> None:
        """Count the cleaned candidates of one document."""
        texts = example.candidates
        self.counts.update(
            documents=1,
            candidates=len(texts),
            ended=sum(example.ended),
            distinct=len(set(texts)),
            english=looks_english(example.document),
        )
        lengths = [len(text.strip()) for text in example.references if text.strip()]
        if lengths:
            self.counts.update(
                compared=len(texts),
                too_short=sum(2 * len(text) < min(lengths) for text in texts),
                too_long=sum(len(text) > 2 * max(lengths) for text in texts),
            )

    def share(self, name: str) -> float:
        """Return the share of the candidates that `name` counts; 0 if there are none."""
        whole = "compared" if name in MOST else "candidates"
        return self.counts[name] / max(self.counts[whole], 1)

    def summary(self) -> str:
        """Return what a user should see of all candidates, in one line."""
        words = {"ended": "ended", "distinct": "are distinct"}
        if self.counts["compared"]:
            words |= {name: text for name, (_, text) in MOST.items()}
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


def looks_english(text: str) -> bool:
    """Whether at least one word in thirty is one of English's six commonest."""
    words = text.lower().split()
    return 30 * sum(word in _COMMON for word in words) >= len(words)
