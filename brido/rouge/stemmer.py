"""The Porter stemmer as NLTK extends it (NLTK's default mode), compiled.

rouge_score stems with NLTK, whose import takes a second and whose every word takes many
microseconds. Here a word is a uint8 array: PAD zeros, then its lower-case letters and digits, so
that its last eight letters are one number and looking for a suffix is one comparison.

Source: Porter, "An algorithm for suffix stripping" (1980). NLTK's deviations are named.
"""

import numpy as np

from brido.rouge.vectors import compiled, inlined, load8

PAD = 8

# Suffix, replacement and the value that the measure of the rest must exceed, by step. The first
# suffix that fits decides, whether its condition holds or not.
_RULES = {
    2: [
        *(("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance")),
        *(("izer", "ize"), ("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e")),
        *(("ousli", "ous"), ("ization", "ize"), ("ation", "ate"), ("ator", "ate")),
        *(("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous")),
        *(("aliti", "al"), ("iviti", "ive"), ("biliti", "ble")),
        *(("fulli", "ful"), ("logi", "log")),  # NLTK's
    ],
    3: [
        *(("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic")),
        *(("ful", ""), ("ness", "")),
    ],
    4: [
        *(("al", ""), ("ance", ""), ("ence", ""), ("er", ""), ("ic", ""), ("able", "")),
        *(("ible", ""), ("ant", ""), ("ement", ""), ("ment", ""), ("ent", ""), ("ion", "")),
        *(("ou", ""), ("ism", ""), ("ate", ""), ("iti", ""), ("ous", ""), ("ive", "")),
        ("ize", ""),
    ],
}
_IRREGULAR = {  # NLTK's
    **{"skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news"},
    **{"innings": "inning", "inning": "inning", "outings": "outing", "outing": "outing"},
    **{"cannings": "canning", "canning": "canning", "howe": "howe"},
    **{"proceed": "proceed", "exceed": "exceed", "succeed": "succeed"},
}


def _number(letters: str) -> np.uint64:
    return np.uint64(int.from_bytes(letters.encode(), "little"))


def _by_last_letter(letter: str) -> list[list[tuple[int, str, str]]]:
    return [[(step, *rule) for rule in _RULES[step] if rule[0][-1] == letter] for step in _RULES]


_LETTERS = [chr(code) for code in range(ord("a"), ord("z") + 1)]
_ORDERED = [rule for letter in _LETTERS for step in _by_last_letter(letter) for rule in step]
# Rules FIRST[i] to FIRST[i + 1] - 1 are those of step 2 + i % 3 for the (i / 3)-th letter.
_FIRST = np.cumsum([0, *(len(s) for letter in _LETTERS for s in _by_last_letter(letter))])
_SUFFIX = np.array([_number(suffix) for _, suffix, _ in _ORDERED])
_SUFFIX_LENGTH = np.array([len(suffix) for _, suffix, _ in _ORDERED])
_REPLACEMENT = np.array([_number(replacement) for _, _, replacement in _ORDERED])
_REPLACEMENT_LENGTH = np.array([len(replacement) for _, _, replacement in _ORDERED])
_LOGI, _ION = (
    next(i for i, rule in enumerate(_ORDERED) if rule[1] == suffix) for suffix in ("logi", "ion")
)
_IRREGULAR_WORD = np.array([_number(word) for word in _IRREGULAR])
_IRREGULAR_STEM = np.array([_number(stem) for stem in _IRREGULAR.values()])
_IRREGULAR_LENGTH = np.array([len(stem) for stem in _IRREGULAR.values()])

_SSES, _IES, _IED, _EED, _ING = (_number(s) for s in ("sses", "ies", "ied", "eed", "ing"))
_ALLI, _SS, _ED, _AT, _BL, _IZ, _LL = (
    _number(s) for s in ("alli", "ss", "ed", "at", "bl", "iz", "ll")
)
_A, _E, _I, _L, _S, _T, _W, _X, _Y, _Z = (ord(letter) for letter in "aeilstwxyz")
_VOWEL = np.array([chr(code) in "aeiou" for code in range(256)])


@inlined()
def _ends(word, length, suffix, suffix_length):
    return load8(word, length) >> np.uint64(64 - 8 * suffix_length) == suffix


@compiled()
def _write(word, length, letters, count):
    for k in range(count):
        word[PAD + length + k] = np.uint8((letters >> np.uint64(8 * k)) & np.uint64(0xFF))
    return length + count


@inlined()
def _is_vowel_letter(letter):
    return _VOWEL[letter]


@compiled()
def _is_consonant(word, index):
    """Whether a letter counts as a consonant: y does where the letter before it does not."""
    letter = word[PAD + index]
    if letter != _Y:
        return not _is_vowel_letter(letter)
    first = index
    while first > 0 and word[PAD + first] == _Y:
        first -= 1
    return (not _is_vowel_letter(word[PAD + first])) == ((index - first) % 2 == 0)


@compiled()
def _measure(word, length):
    """Porter's m: how often a consonant follows a vowel."""
    count = 0
    after_vowel = False
    for index in range(length):
        letter = word[PAD + index]
        vowel = _is_vowel_letter(letter) or (letter == _Y and index > 0 and not after_vowel)
        count += after_vowel and not vowel
        after_vowel = vowel
    return count


@compiled()
def _contains_vowel(word, length):
    for index in range(length):
        letter = word[PAD + index]
        if _is_vowel_letter(letter) or (letter == _Y and index > 0):
            return True
    return False


@compiled()
def _ends_consonant_vowel_consonant(word, length):
    """Porter's *o; a word of one vowel and one consonant is NLTK's addition."""
    if length == 2:
        return not _is_consonant(word, 0) and _is_consonant(word, 1)
    last = word[PAD + length - 1]
    return (
        length >= 3
        and _is_consonant(word, length - 3)
        and not _is_consonant(word, length - 2)
        and _is_consonant(word, length - 1)
        and last not in (_W, _X, _Y)
    )


@compiled()
def _plural(word, length):
    """Step 1a."""
    if word[PAD + length - 1] != _S:
        return length
    if _ends(word, length, _IES, 3):
        return length - 1 if length == 4 else length - 2  # four letters: NLTK's dies -> die
    if _ends(word, length, _SSES, 4):
        return length - 2
    return length if _ends(word, length, _SS, 2) else length - 1


@compiled()
def _past_and_progressive(word, length):
    """Step 1b."""
    if _ends(word, length, _IED, 3):
        return length - 1 if length == 4 else length - 2  # NLTK's
    if _ends(word, length, _EED, 3):
        return length - 1 if _measure(word, length - 3) > 0 else length
    if _ends(word, length, _ED, 2):
        rest = length - 2
    elif _ends(word, length, _ING, 3):
        rest = length - 3
    else:
        return length
    if not _contains_vowel(word, rest):
        return length
    if _ends(word, rest, _AT, 2) or _ends(word, rest, _BL, 2) or _ends(word, rest, _IZ, 2):
        word[PAD + rest] = _E
        return rest + 1
    last = word[PAD + rest - 1]
    if rest >= 2 and last == word[PAD + rest - 2] and _is_consonant(word, rest - 1):
        return rest if last in (_L, _S, _Z) else rest - 1
    if _measure(word, rest) == 1 and _ends_consonant_vowel_consonant(word, rest):
        word[PAD + rest] = _E
        return rest + 1
    return rest


@compiled()
def _apply_rules(word, length, step):
    """Steps 2 to 4: the first rule whose suffix fits, if its condition holds."""
    letter = word[PAD + length - 1]
    if letter < _A:
        return length
    group = (letter - _A) * 3 + step - 2
    for rule in range(_FIRST[group], _FIRST[group + 1]):
        if _ends(word, length, _SUFFIX[rule], _SUFFIX_LENGTH[rule]):
            rest = length - _SUFFIX_LENGTH[rule]
            # NLTK measures `logi` with its l; Porter wants an s or a t before `ion`.
            fits = _measure(word, rest + (rule == _LOGI)) > (1 if step == 4 else 0)
            if fits and rule == _ION:
                fits = word[PAD + rest - 1] == _S or word[PAD + rest - 1] == _T
            if not fits:
                return length
            return _write(word, rest, _REPLACEMENT[rule], _REPLACEMENT_LENGTH[rule])
    return length


@compiled()
def _final_letters(word, length):
    """Step 5."""
    if word[PAD + length - 1] == _E:
        measure = _measure(word, length - 1)
        if measure > 1 or (measure == 1 and not _ends_consonant_vowel_consonant(word, length - 1)):
            length -= 1
    if _ends(word, length, _LL, 2) and _measure(word, length - 1) > 1:
        length -= 1
    return length


@compiled()
def stem(word, length):
    """The length of the stem, which replaces the word in place.

    `word` is uint8: PAD zeros, `length` (at least 3) letters a-z and digits, 8 bytes of room.
    """
    if length <= 8:
        start = load8(word, PAD)
        for index in range(len(_IRREGULAR_WORD)):
            if start == _IRREGULAR_WORD[index]:
                return _write(word, 0, _IRREGULAR_STEM[index], _IRREGULAR_LENGTH[index])
    length = _past_and_progressive(word, _plural(word, length))
    if length > 2 and word[PAD + length - 1] == _Y and _is_consonant(word, length - 2):
        word[PAD + length - 1] = _I  # step 1c with NLTK's condition
    # NLTK takes `alli` before the other rules of step 2.
    if _ends(word, length, _ALLI, 4) and _measure(word, length - 4) > 0:
        length -= 2
    for step in range(2, 5):
        length = _apply_rules(word, length, step)
    return _final_letters(word, length)
