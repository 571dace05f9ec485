"""How often the rules that clean candidates touch texts that people wrote: they should not.

    python -m benchmarks.cleaning references.jsonl [more.jsonl ...] [--column summary]

Every text of the column (a text or a list of texts a line) is cleaned; each rule's share of texts
is printed, and what it did to the first of them; so is the share that is foreign to its document
(column `document`): in another script, or with markup left. Outputs of models go in the same way:
there the share is what the rules are for.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from brido.candidates.cleaning import RULES, clean
from brido.candidates.look import ODD, OddOnes


def texts_of(path: Path, column: str) -> Iterator[tuple[str, str]]:
    """The texts of a column, line by line, each with its document."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            texts = [row[column]] if isinstance(row[column], str) else row[column]
            yield from ((text, row["document"]) for text in texts)


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
        for text, document in texts:
            cleaned = clean(text)
            for rule in (*cleaned.rules, *OddOnes(document)(cleaned.text)):
                touched[rule].append((text, cleaned.text))
        changed = sum(bool(clean(text).rules) for text, _ in texts)
        print(f"{path}: {changed} of {len(texts):,} texts touched ({changed / len(texts):.2%})")
        for rule in (*RULES, *ODD):
            if touched[rule]:
                print(f"  {rule}: {len(touched[rule])}")
            for before, after in touched[rule][: options.examples]:
                print(f"    {before[:120]!r} -> {after[:80]!r}")


if __name__ == "__main__":
    main()
