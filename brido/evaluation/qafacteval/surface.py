"""From word pieces back to the text as it was written, and to its place in the context."""

from tokenizers import normalizers, pre_tokenizers

# BERT's basic tokenizer: cleaned, lower-cased, accents off, CJK and punctuation split.
_NORMALIZER = normalizers.BertNormalizer(lowercase=True)
_SPLITTER = pre_tokenizers.BertPreTokenizer()


def basic_tokens(text: str) -> list[str]:
    """BERT's basic tokens of `text`: lower case, no accents, punctuation apart."""
    normalised = _NORMALIZER.normalize_str(text)
    return [token for token, _ in _SPLITTER.pre_tokenize_str(normalised)]


def join_pieces(pieces: list[str]) -> str:
    """Word pieces as text: continuation marks removed, spaces collapsed.

    A span that begins inside a word keeps the first piece's mark; it is then not found in the
    text, and the whole words are the answer.
    """
    return " ".join(" ".join(pieces).replace(" ##", "").split())


def original_text(found: str, original: str) -> str:
    """The part of `original` (whole words) that `found` (joined pieces) stands for.

    `found` is looked up in the basic tokens of `original`; its first and last character are then
    mapped back through both texts without their spaces. Where that fails, all of `original`.
    """
    tokens = " ".join(basic_tokens(original))
    start = tokens.find(found)
    if start < 0:
        return original
    end = start + len(found) - 1
    token_places = [index for index, letter in enumerate(tokens) if letter != " "]
    original_places = [index for index, letter in enumerate(original) if letter != " "]
    if len(token_places) != len(original_places):
        return original
    back = dict(zip(token_places, original_places, strict=True))
    if start not in back or end not in back:
        return original
    return original[back[start] : back[end] + 1]


def align_span(prediction: str, text: str, start: int, end: int) -> tuple[int, int]:
    """Where in `text` the prediction stands, inside the whole words text[start:end].

    The best alignment of the prediction within the words, by edit distance; the words themselves
    where it is longer than they are or the best end is not unique. Informative only: no score
    depends on it.
    """
    words = text[start:end]
    if prediction == words or not prediction or len(prediction) > len(words):
        return start, end
    if words.count(prediction) == 1:
        exact = start + words.index(prediction)
        return exact, exact + len(prediction)
    # distance[i], origin[i]: cheapest way to end prediction[:i] here, and where it started.
    distance = list(range(len(prediction) + 1))
    origin = [0] * (len(prediction) + 1)
    ends: list[tuple[int, int, int]] = []
    for place, letter in enumerate(words):
        previous, previous_origin = distance, origin
        distance, origin = [0], [place + 1]
        for index, wanted in enumerate(prediction):
            ways = (
                (previous[index] + (letter != wanted), previous_origin[index]),
                (previous[index + 1] + 1, previous_origin[index + 1]),
                (distance[index] + 1, origin[index]),
            )
            cheapest, began = min(ways)
            distance.append(cheapest)
            origin.append(began)
        ends.append((distance[-1], place + 1, origin[-1]))
    best = min(cost for cost, _, _ in ends)
    matches = [(began, stop) for cost, stop, began in ends if cost == best]
    if len(matches) != 1:
        return start, end
    return start + matches[0][0], start + matches[0][1]
