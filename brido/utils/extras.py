"""What the wheel does not bring by itself: `pip install "brido[torch]"` and its kin.

The wheel alone needs numpy, numba and nltk. Whoever comes to a part whose packages are not there
meets one sentence with the command, from an import, a call and a command line alike.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from brido.utils.errors import BridoError

_TORCH = (
    "accelerate gguf google huggingface_hub jinja2 peft pydantic safetensors sentencepiece "
    "tokenizers torch transformers"
)
_FILES = "filelock pyarrow rich"
_STAGES = "datasets dvc matplotlib pandas rouge_score ruamel scipy"
# What each extra of pyproject.toml lets Python import; a test compares the two. The smallest extra
# that has a module is the one that is named, so the order counts.
EXTRAS = {
    "judge": frozenset(f"{_FILES} jinja2 openai pydantic ruamel".split()),
    "torch": frozenset(_TORCH.split()),
    "qafacteval": frozenset(f"{_TORCH} {_FILES} spacy".split()),
    "pipeline": frozenset(f"{_TORCH} {_FILES} {_STAGES}".split()),
    "ray": frozenset(f"{_TORCH} {_FILES} {_STAGES} ray".split()),
}


class MissingExtra(BridoError, ImportError):
    """A part of brido is used whose packages are not installed; to Python an ImportError too."""


@contextmanager
def extra(name: str) -> Iterator[None]:
    """A block that needs `brido[name]`: a package that is missing is one sentence.

    Where another extra brings the missing package, that one is named. What no extra brings is
    somebody else's trouble and passes as it is.

    Raises:
        MissingExtra: a package of an extra is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        found = next((one for one in (name, *EXTRAS) if missing in EXTRAS[one]), None)
        if found is None:
            raise
        command = f'pip install "brido[{found}]"'
        raise MissingExtra(
            f"{missing} is not installed, and this part of brido needs it: {command}", name=missing
        ) from None
