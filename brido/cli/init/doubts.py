"""What looks wrong with a user's documents and summaries although every row can be read."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from brido.utils.errors import short
from brido.utils.text import clean, seeing_tokenizer, unseen_share

# Above such shares of the first documents the sentences below are said.
_ALIKE, _MOST = 0.2, 0.5
# Letters of the texts that are shown.
_SHOWN = 160
# A tag that web pages have, or a sign as they write it; not `a < b`, nor <unk> of a corpus.
_HTML = re.compile(
    r"</?(?:p|br|div|span|b|i|em|strong|a|h[1-6]|[uo]l|li|table|t[rdh]|html|body|img|script|style)"
    r"(?:\s[^<>]*)?/?>|&(?:amp|nbsp|quot|lt|gt|#x?[0-9a-f]+);",
    re.IGNORECASE,
)


def doubts(texts: Sequence[str], summaries: Sequence[str]) -> Iterator[str]:
    """Sentences about texts that look wrong: HTML, or summaries alike, copied, or too long.

    texts: the first documents of train, with their summaries (none: there are no references).
    """
    if seeing_tokenizer(texts) == "unicode":
        yield (
            f"rouge_score breaks or leaves out {unseen_share(texts):.0%} of the words (it knows "
            "a-z and 0-9): pairwise.tokenizer and evaluation.rouge.tokenizer are unicode"
        )
    for name, read in (("documents", texts), ("summaries", summaries)):
        count = sum(bool(_HTML.search(text)) for text in read)
        if count > max(1, _ALIKE * len(read)):
            yield (
                f"{count:,} of {len(read):,} {name} hold HTML, as <p> or &amp;: models read "
                "it as words, and learn to write it. Take it out of the files"
            )
    total = len(summaries)
    pairs = list(zip(texts, summaries, strict=False))
    text, alike = Counter(summaries).most_common(1)[0] if summaries else ("", 0)
    copied = sum(clean(summary) in clean(document) for document, summary in pairs)
    longer = sum(len(summary) >= len(document) for document, summary in pairs)
    found = {
        f"are the same text ({_beginning(text, 60)})": (alike, _ALIKE),
        "stand in their document, word for word": (copied, _MOST),
        "are as long as their document": (longer, _MOST),
    }
    for what, (count, share) in found.items():
        if count > max(1, share * total):
            yield (
                f"{count:,} of {total:,} summaries {what}: is this the column of the summaries? "
                "(--document-column, --summary-column)"
            )


def example(texts: Sequence[str], summaries: Sequence[str]) -> dict[str, str]:
    """The beginning of a document and of its summary, to see whether the columns are right."""
    shown = {"document": _beginning(texts[0])}
    return shown | ({"summary": _beginning(summaries[0])} if summaries else {})


def _beginning(text: str, letters: int = _SHOWN) -> str:
    cut = text if len(text) <= letters else f"{text[:letters].rstrip()} ..."
    # Control characters of a file stay out of the terminal; letters of other scripts are shown.
    return "".join(sign if sign.isprintable() else short(sign) for sign in cut)
