"""What `pip install .` does not bring: the packages of `.[torch]` and `.[all]`.

Alone, brido scores and votes. `torch` has search, likelihood, training functions, the Summarizer
and `brido summarize`; `all` has the stages, the judges and the cluster too. Where a package is
missing, an import, a call and a command say so in one sentence.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from brido.utils.errors import BridoError

_TORCH = {
    *("accelerate", "filelock", "gguf", "google", "huggingface_hub", "jinja2", "peft", "pyarrow"),
    *("pydantic", "ruamel", "safetensors", "sentencepiece", "tokenizers", "torch", "transformers"),
}
_MORE = {
    *("datasets", "dvc", "matplotlib", "openai", "pandas", "ray", "rouge_score", "scipy", "spacy"),
}
# What each extra of pyproject.toml lets Python import, the smallest first.
EXTRAS = {"torch": _TORCH, "all": _TORCH | _MORE}
# What brido itself needs: missing only in a checkout whose environment is not active.
_ALWAYS = {"click", "nltk", "numba", "numpy", "regex", "rich", "text_to_num", "tqdm"}


class MissingExtra(BridoError, ImportError):
    """A part of brido is used whose packages are not installed; to Python an ImportError too."""


@contextmanager
def extra() -> Iterator[None]:
    """Turn a missing package in the block into one sentence with the extra that brings it.

    A package that no extra brings passes as the error that it is.

    Raises:
        MissingExtra: a package of an extra is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        found = next((name for name, brings in EXTRAS.items() if missing in brings | _ALWAYS), None)
        if found is None:
            raise
        raise MissingExtra(
            f"{missing} is not installed, and this part of brido needs it. In the clone of its "
            f"repository, run `make setup` and `source .venv/bin/activate`, or `pip install "
            f'".[{found}]"`',
            name=missing,
        ) from None
