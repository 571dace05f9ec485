"""What the wheel does not bring by itself: `pip install "brido[torch]"` and its kin.

The wheel alone needs click, numpy, numba, nltk and rich. A part whose packages are missing says so
in one sentence with the command that installs them, from an import, a call and a command alike.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from brido.utils.errors import BridoError

_TORCH = (
    "accelerate gguf google huggingface_hub jinja2 peft pydantic safetensors sentencepiece "
    "tokenizers torch transformers"
)
_FILES = "filelock pyarrow"
_STAGES = "datasets dvc matplotlib pandas rouge_score ruamel scipy"
# What each extra of pyproject.toml lets Python import; a test compares the two. The smallest extra
# that has a module is the one that is named, so the order counts.
EXTRAS = {
    "judge": frozenset(f"{_FILES} jinja2 openai pydantic ruamel".split()),
    "torch": frozenset(_TORCH.split()),
    "qafacteval": frozenset(f"{_TORCH} {_FILES} spacy".split()),
    "pipeline": frozenset(f"{_TORCH} {_FILES} {_STAGES}".split()),
    "trl": frozenset(f"{_TORCH} trl".split()),
    "ray": frozenset(f"{_TORCH} {_FILES} {_STAGES} ray".split()),
    "inspect": frozenset(f"{_TORCH} {_FILES} {_STAGES} inspect_ai".split()),
}

# What the wheel itself needs: missing only in a checkout whose environment is not active.
_ALWAYS = frozenset(["click", "nltk", "numba", "numpy"])


class MissingExtra(BridoError, ImportError):
    """A part of brido is used whose packages are not installed; to Python an ImportError too."""


# Where brido is a checkout of the repository, not an installed package.
_CHECKOUT = Path(__file__).parents[2]


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Turn a missing package in a block that needs `brido[name]` into one sentence.

    If another extra brings the missing package, that one is named. A package that no extra brings
    passes as the error that it is.

    Raises:
        MissingExtra: a package of an extra is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        known = (one for one in (name, *EXTRAS) if missing in EXTRAS[one] | _ALWAYS)
        found = next(known, None)
        if found is None:
            raise
        raise MissingExtra(
            f"{missing} is not installed, and this part of brido needs it. Run: {_way_out(found)}",
            name=missing,
        ) from None


def _way_out(name: str) -> str:
    if not (_CHECKOUT / "dvc.yaml").is_file():
        return f'pip install "brido[{name}]"'
    return f'make setup && source .venv/bin/activate, or pip install ".[{name}]"'
