"""How often the rules that clean candidates touch texts that people wrote: they should not.

    python -m benchmarks.cleaning references.jsonl [more.jsonl ...] [--column summary]

Every text of the column (a text or a list of texts a line) is cleaned; each rule's share of texts
is printed, and what it did to the first of them. Outputs of models go in the same way: there the
share is what the rules are for.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from brido.candidates.cleaning import RULES, clean


def texts_of(path: Path, column: str) -> Iterator[str]:
    """The texts of a column, line by line."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            value = json.loads(line)[column]
            yield from [value] if isinstance(value, str) else value


def main() -> None:
    """Print one line a file and one a rule, with examples."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--column", default="summary")
    parser.add_argument("--examples", type=int, default=3)
    options = parser.parse_args()
    for path in options.files:
        texts = list(texts_of(path, options.column))
        touched: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for text in texts:
            cleaned = clean(text)
            for rule in cleaned.rules:
                touched[rule].append((text, cleaned.text))
        changed = sum(bool(clean(text).rules) for text in texts)
        print(f"{path}: {changed} of {len(texts):,} texts touched ({changed / len(texts):.2%})")
        for rule in RULES:
            if touched[rule]:
                print(f"  {rule}: {len(touched[rule])}")
            for before, after in touched[rule][: options.examples]:
                print(f"    {before[:120]!r} -> {after[:80]!r}")


if __name__ == "__main__":
    main()
