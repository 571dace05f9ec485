"""Every setting has one text; files repeat it; and every key is varied or has a reason to be."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
from click.testing import CliRunner
from ruamel.yaml import YAML

from brido.cli.options import REPEATED, command, generated
from brido.models.settings import LoraSettings
from brido.search.settings import GuidanceSettings, GuidedSystem
from brido.settings.base import forms
from brido.settings.params import Params
from brido.settings.presets import flatten, preset_names, read_preset
from brido.settings.text import first_sentence, settings, yaml_text
from experiments.plan import SEEDS

ROOT = Path(__file__).parents[2]
ALL = list(settings())
# Keys that no preset, plan or document varies, and who may want another value.
OTHER_TEXTS = "a corpus of the user's, whose columns, splits and sizes are other ones"
OTHER_MODEL = "a base model of the user's, of another size or on other text"
OTHER_SERVER = "servers differ in speed, fields and prices"
OTHER_MACHINE = "machines and memory differ"
TUNED = ("training", "checkpoints.*.fine_tuning")
LORA = LoraSettings.model_fields
BRIO = "BRIO's other settings"
UNVARIED = {
    "training.margin_kind": BRIO,
    "data.world.support_rate": "docs/world.md: how much must be made up?",
    "data.world.counties_from_towns": "docs/world.md: when does a vote like what is unsupported?",
    "data.world.formulaic_extras": "docs/world.md: likewise",
    "data.world.bare_references": "docs/world.md: likewise",
    "data.hub.train_split": OTHER_TEXTS,
    "data.hub.validation_split": OTHER_TEXTS,
    "data.hub.test_split": OTHER_TEXTS,
    "data.hub.id_column": OTHER_TEXTS,
    "data.files.id_column": OTHER_TEXTS,
    "data.files.document_column": OTHER_TEXTS,
    "data.files.summary_column": OTHER_TEXTS,
    "data.files.references_column": OTHER_TEXTS,
    "data.max_evaluated": "brido init own computes it",
    "checkpoints.*.embedded.architecture": "a decoder-only base without a download",
    "checkpoints.*.embedded.world.documents": OTHER_MODEL,
    "checkpoints.*.embedded.attention_heads": OTHER_MODEL,
    "checkpoints.*.embedded.batch_size": OTHER_MODEL,
    "checkpoints.*.embedded.label_smoothing": OTHER_MODEL,
    "checkpoints.*.embedded.num_beams": OTHER_MODEL,
    "checkpoints.*.embedded.length_penalty": OTHER_MODEL,
    "checkpoints.*.embedded.encoder_layers": OTHER_MODEL,
    "checkpoints.*.embedded.layers": OTHER_MODEL,
    "checkpoints.*.revision": OTHER_MODEL,
    "checkpoints.*.adapter": "a model that somebody tuned with LoRA",
    "checkpoints.*.fine_tuning.epochs": "brido init own computes it",
    "checkpoints.*.fine_tuning.batch_size": "brido init own computes it",
    "checkpoints.*.fine_tuning.learning_rate": OTHER_MODEL,
    "checkpoints.*.fine_tuning.warmup_steps": OTHER_MODEL,
    "checkpoints.*.fine_tuning.label_smoothing": OTHER_MODEL,
    "checkpoints.*.fine_tuning.max_summary_tokens": "brido init own computes it",
    "reading.*.system": "chat models whose instruction belongs into the system's turn",
    "generation.*.early_stopping": "published settings of other models",
    "generation.*.keep_every": "BRIO kept every 8th of 128 beams",
    "generation.*.min_p": "published settings of chat models",
    "generation.*.endpoint": OTHER_SERVER,
    "generation.*.model": OTHER_SERVER,
    "generation.*.revision": OTHER_SERVER,
    "generation.*.max_answer_tokens": OTHER_SERVER,
    "generation.*.extra_parameters": OTHER_SERVER,
    "generation.*.max_missing_fraction": OTHER_SERVER,
    "generation.*.files.train": OTHER_TEXTS,
    "generation.*.files.validation": OTHER_TEXTS,
    "generation.*.files.test": OTHER_TEXTS,
    **{
        f"generation.*.guidance.{key}": "candidates that know more"
        for key in GuidanceSettings.model_fields
    },
    **{f"guidance.*.{key}": OTHER_MODEL for key in GuidedSystem.model_fields},
    "pool.eligible": "a pool of models whose best one alone may be elected",
    "pool.minimum": "likewise",
    "pairwise.implementation": "the paper's text names pltrdy, its code rouge_score",
    "pairwise.use_stemmer": "ROUGE as others print it",
    "support.checker": "texts of people, where a model checks better than names do",
    "support.case_sensitive": "lower-cased documents",
    "support.model": OTHER_MODEL,
    "support.revision": OTHER_MODEL,
    "likelihood.seed": "does a result hang on which documents the others are?",
    "scoring.prior": OTHER_MODEL,
    "scoring.unit": "summaries of several sentences",
    "training.weight_decay": "usual for AdamW",
    "training.reduction": "the paper's Eq. 1, where its code takes a mean",
    "training.gold_weight": BRIO,
    "training.gold_margin": BRIO,
    **{f"{section}.lora.{key}": OTHER_MODEL for section in TUNED for key in LORA},
    "decoding.early_stopping": "published settings of other models",
    "evaluation.rouge.use_stemmer": "ROUGE as others print it",
    "evaluation.mentions.case_sensitive": "lower-cased documents",
    "evaluation.extractiveness.novel_ngrams": "papers print 1 to 4",
    "evaluation.minicheck.model": OTHER_MODEL,
    "evaluation.minicheck.revision": OTHER_MODEL,
    "evaluation.qafacteval.models": "converted models in a folder",
    "evaluation.qafacteval.spacy_model": "another version of it",
    "evaluation.qafacteval.answers": "the original's other strategy",
    "evaluation.qafacteval.faithful": "without a fault of the released code",
    "evaluation.geval.revision": OTHER_SERVER,
    "evaluation.geval.prompt": "G-Eval's own protocol, or a prompt of the user's",
    "evaluation.geval.score_mode": "one answer in place of 20, for a twentieth of the price",
    "evaluation.geval.samples": "likewise",
    "evaluation.geval.temperature": OTHER_SERVER,
    "evaluation.geval.top_p": OTHER_SERVER,
    "evaluation.geval.max_answer_tokens": OTHER_SERVER,
    "evaluation.geval.structured_output": OTHER_SERVER,
    "evaluation.geval.seed": OTHER_SERVER,
    "evaluation.geval.extra_parameters": OTHER_SERVER,
    "evaluation.geval.max_invalid_fraction": OTHER_SERVER,
    "report.bootstrap_samples": "quicker, or finer, intervals",
    "report.length_warning": "summaries whose length varies more",
    "report.page_documents": "a page of more documents",
    "runtime.device": OTHER_MACHINE,
    "runtime.shard_documents": "documents that take minutes each",
    "runtime.checkpoint_minutes": OTHER_MACHINE,
    "runtime.candidate_micro_batch": OTHER_MACHINE,
    "runtime.fsdp": OTHER_MACHINE,
    "runtime.log_seconds": "logs of batch jobs",
    "runtime.trackers": "teams that watch runs elsewhere",
    "runtime.workers": OTHER_MACHINE,
    "runtime.endpoint.api_key_env": OTHER_SERVER,
    "runtime.endpoint.store": "answers that several projects share",
    "runtime.endpoint.max_concurrency": OTHER_SERVER,
    "runtime.endpoint.timeout_seconds": OTHER_SERVER,
    "runtime.endpoint.max_attempts": OTHER_SERVER,
    "runtime.endpoint.max_cost": "a budget",
    "runtime.endpoint.max_tokens": "a budget",
    "runtime.endpoint.input_price": OTHER_SERVER,
    "runtime.endpoint.output_price": OTHER_SERVER,
    "runtime.endpoint.dry_run": "what would it cost?",
    "runtime.endpoint.replay": "the same table without the server",
    "runtime.endpoint.show_content": "a look at why a server refuses",
    "runtime.ray.num_cpus": OTHER_MACHINE,
    "runtime.ray.num_gpus": OTHER_MACHINE,
    "runtime.ray.memory_gib": OTHER_MACHINE,
}


@pytest.mark.parametrize("setting", ALL, ids=[one.key for one in ALL])
def test_every_setting_says_what_it_does(setting):
    assert setting.text or setting.default == "a section"
    assert setting.text.endswith(".") or not setting.text
    # It fits beside its value in params.yaml.
    assert len(first_sentence(setting.text)) <= 86


def choices(annotation: Any) -> Iterator[str]:
    """The words that a key may hold."""
    if get_origin(annotation) is Literal:
        yield from (word for word in get_args(annotation) if isinstance(word, str))
    elif not forms(annotation):
        for part in get_args(annotation):
            yield from choices(part)


def test_every_choice_stands_in_the_text():
    lacking = []
    todo, seen = [Params], set()
    while todo:
        section = todo.pop()
        seen.add(section)
        for name, field in section.model_fields.items():
            parts = [field.annotation, *get_args(field.annotation)]
            todo += [one for part in parts for one in forms(part) if one not in seen]
            words = re.findall(r"\w+", field.description or "")
            if name not in ("clean", "checkpoint"):
                lacking += [(name, one) for one in choices(field.annotation) if one not in words]
    assert lacking == []


@pytest.mark.parametrize("path", ["params.yaml", "presets/default.yaml", "docs/configuration.md"])
def test_what_repeats_the_texts_is_up_to_date(path):
    text = generated()[Path(path)]
    assert text == (ROOT / path).read_text(encoding="utf-8"), "python -m brido options --write"


def test_a_new_key_gets_its_line_and_its_comment(tmp_path, monkeypatch):
    for name in ("presets", "docs"):
        (tmp_path / name).mkdir()
    text = (ROOT / "presets/default.yaml").read_text(encoding="utf-8")
    without = re.sub(r"  (shuffle|margin): .*\n", "", text)
    (tmp_path / "presets/default.yaml").write_text(without, encoding="utf-8")
    (tmp_path / "docs/configuration.md").write_text("", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    found = generated()
    assert found.keys() == {Path("presets/default.yaml"), Path("docs/configuration.md")}
    written = found[Path("presets/default.yaml")]
    assert sorted(written.splitlines()) == sorted(text.splitlines())


def test_every_key_stands_in_params_or_on_the_page():
    page = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
    text = (ROOT / "params.yaml").read_text(encoding="utf-8")
    shown = {starred(key) for key in flatten(YAML(typ="safe").load(text))}
    for cell in re.findall(r"^\| (`[\w.*`, ]+`) \|", page, re.MULTILINE):
        shown |= set(re.findall(r"[\w.*]+", cell))
    # The adapter of training has the texts of fine-tuning's.
    others = (*REPEATED, "training.lora.")
    missing = {one.key for one in ALL if not one.key.startswith(others)} - shown
    # A section that may be null is there with its keys.
    assert {key for key in missing if not any(k.startswith(f"{key}.") for k in shown)} == set()


def test_the_schema_has_the_same_texts():
    schema = json.loads(CliRunner().invoke(command, ["--schema"]).output)
    alpha = schema["$defs"]["ScoringSettings"]["properties"]["alpha"]
    assert alpha["description"] == next(one.text for one in ALL if one.key == "scoring.alpha")


def test_the_command_shows_a_section_a_key_and_what_was_meant():
    section = CliRunner().invoke(command, ["training.validation"]).output
    assert "training.validation.every" in section
    assert "training.seed" not in section
    assert "generation.*.num_beams" in CliRunner().invoke(command, ["generation.base"]).output
    failed = CliRunner().invoke(command, ["training.validtion"])
    assert "Did you mean training.validation" in str(failed.exception)
    # A key without its section; and one that is like none.
    failed = CliRunner().invoke(command, ["max_similarity_gap"])
    assert "brido options" in str(failed.exception)
    assert "Did you mean" not in str(failed.exception)
    failed = CliRunner().invoke(command, ["rank"])
    named = str(failed.exception).partition("Did you mean ")[2].partition("?")[0]
    named = named.replace(" or ", ", ").split(", ")
    assert "training.lora.rank" in named
    assert len(named) <= 5


def starred(key: str) -> str:
    """A key with `*` for a name of the user's."""
    key = re.sub(r"^(checkpoints|generation|guidance|reading)\.\w+", r"\1.*", key)
    return re.sub(r"^runtime\.endpoints\.\w+", "runtime.endpoint", key)


def written() -> Iterator[tuple[str, Any]]:
    """Every key with a value in presets, plans and the documents' examples."""
    yaml = YAML(typ="safe")
    yaml.allow_duplicate_keys = True
    for name in preset_names(ROOT / "presets"):
        yield from flatten(read_preset(name, ROOT / "presets")).items()
    for path in (ROOT / "experiments").rglob("*.yaml"):
        yield from changed(yaml.load(path.read_text(encoding="utf-8")))
    for path in (*ROOT.glob("docs/*.md"), ROOT / "README.md"):
        text = path.read_text(encoding="utf-8")
        for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL):
            yield from flatten(yaml.load(block)).items()
        for key, value in re.findall(r"-S '?\+?([\w.]+)=([\w.]+)", text):
            yield key, yaml.load(value)


def changed(plan: Any) -> Iterator[tuple[str, Any]]:
    """The dotted keys of a plan, whatever they stand in."""
    if isinstance(plan, list):
        for item in plan:
            yield from changed(item)
    if not isinstance(plan, dict):
        return
    for key, value in plan.items():
        section = str(key).split(".")[0] in Params.model_fields
        if section and isinstance(value, dict):
            yield from flatten(value, f"{key}.").items()
        elif section:
            yield key, value
        yield from changed(value)


def test_every_key_is_varied_somewhere_or_has_a_reason():
    values: dict[str, set[str]] = {}
    for one in ALL:
        values.setdefault(one.key, {one.default})
    for key, value in written():
        # The switches of a template are its value.
        key = re.sub(r"(template)\.\w+$", r"\1", key)
        values.get(starred(key), set()).add(yaml_text(value))
    for seed in SEEDS:
        values[starred(seed)].add("another")
    sections = {key.rpartition(".")[0] for key in values}
    unvaried = {
        key
        for key, found in values.items()
        if len(found) < 2 and key not in sections and not key.startswith("runtime.endpoints.")
    }
    assert sorted(unvaried - UNVARIED.keys()) == []
    assert sorted(UNVARIED.keys() - unvaried) == []
    assert all(UNVARIED.values())
