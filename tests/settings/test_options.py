"""Every setting has one text; files repeat it; and every key is varied or has a reason to be."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from click.testing import CliRunner
from ruamel.yaml import YAML

from brido.cli.options import PAGE, REPEATED, command, generated
from brido.models.settings import LoraSettings
from brido.search.settings import GuidanceSettings
from brido.settings.load import PREVIOUS, load_params
from brido.settings.params import Params
from brido.settings.presets import flatten, preset_names, read_preset
from brido.settings.text import first_sentence, settings, yaml_text
from brido.utils.sections import forms
from experiments.plan import SEEDS

ROOT = Path(__file__).parents[2]
ALL = list(settings())
# Keys that no preset, plan or document varies: why somebody may want another value, and of which.
LORA = [f"{section}.lora" for section in ("training", "checkpoints.*.fine_tuning")]
UNVARIED_BECAUSE = {
    "a corpus of the user's, whose columns, splits and sizes are other ones": """
        data.hub: train_split validation_split test_split id_column
        data.files: id_column document_column summary_column references_column
        generation.*.files: train validation test""",
    "a base model of the user's, of another size or on other text": f"""
        checkpoints.*: revision
        checkpoints.*.embedded: attention_heads batch_size label_smoothing num_beams length_penalty
        checkpoints.*.embedded: encoder_layers
        checkpoints.*.fine_tuning: learning_rate warmup_steps label_smoothing
        {LORA[0]}: {" ".join(LoraSettings.model_fields)}
        {LORA[1]}: {" ".join(LoraSettings.model_fields)}
        support: model revision
        evaluation.minicheck: model revision""",
    "measured in a finished study, which docs/log.md keeps": "training: anchor",
    "servers differ in speed, fields and prices": """
        generation.*: endpoint revision max_answer_tokens extra_parameters
        evaluation.geval: revision temperature top_p max_answer_tokens structured_output seed
        evaluation.geval: extra_parameters max_invalid_fraction
        runtime.endpoint: api_key_env max_attempts
        runtime.endpoint: input_price output_price""",
    "machines and memory differ": """
        runtime: device checkpoint_minutes candidate_micro_batch fsdp workers
        runtime.ray: num_cpus num_gpus memory_gib""",
    "BRIO's other settings": "training: margin_kind gold_weight gold_margin",
    "docs/world.md: how much must be made up?": "data.world: support_rate",
    "docs/world.md: when does a vote like what is unsupported?": """
        data.world: counties_from_towns formulaic_extras bare_references""",
    "brido init own computes it": """
        checkpoints.*.fine_tuning: epochs batch_size max_summary_tokens""",
    "a model that somebody tuned with LoRA": "checkpoints.*: adapter",
    "chat models whose instruction belongs into the system's turn": "reading.*: system",
    "BRIO kept every 8th of 128 beams": "generation.*: keep_every",
    "published settings of chat models": "generation.*: min_p",
    "candidates that know more": f"""
        generation.*.guidance: {" ".join(GuidanceSettings.model_fields)}""",
    "how careful a choice is": """
        choice: among by rouge_loss length_change standard_errors""",
    "a pool of models whose best one alone may be elected": "pool: eligible minimum",
    "the paper's text names pltrdy, its code rouge_score": "pairwise: implementation",
    "ROUGE as others print it": """
        pairwise: use_stemmer
        evaluation.rouge: use_stemmer""",
    "texts of people, where a model checks better than names do": "support: checker",
    "texts in Chinese, Hindi, Russian, Arabic": """
        pairwise: tokenizer
        evaluation.rouge: tokenizer""",
    "lower-cased documents": """
        support: case_sensitive
        evaluation.mentions: case_sensitive""",
    "does a result hang on which documents the others are?": "likelihood: seed",
    "summaries of several sentences": "scoring: unit",
    "usual for AdamW": "training: weight_decay",
    "the paper's Eq. 1, where its code takes a mean": "training: reduction",
    "what does an order add to flattening?": "training: temperature log_ratio_scale",
    "papers print 1 to 4": "evaluation.extractiveness: novel_ngrams",
    "converted models in a folder": "evaluation.qafacteval: models",
    "another version of it": "evaluation.qafacteval: spacy_model",
    "the original's other strategy": "evaluation.qafacteval: answers",
    "without a fault of the released code": "evaluation.qafacteval: faithful",
    "G-Eval's own protocol, or a prompt of the user's": "evaluation.geval: prompt",
    "one answer in place of 20, for a 20th of the price": "evaluation.geval: score_mode samples",
    "quicker, or finer, intervals": "report: bootstrap_samples",
    "summaries whose length varies more": "report: length_warning",
    "a page of more documents": "report: page_documents",
    "logs of batch jobs": "runtime: log_seconds",
    "teams that watch runs elsewhere": "runtime: trackers",
    "answers that several projects share": "runtime.endpoint: store",
    "a budget": "runtime.endpoint: max_cost max_tokens",
    "what would it cost?": "runtime.endpoint: dry_run",
    "the same table without the server": "runtime.endpoint: replay",
    "a look at why a server refuses": "runtime.endpoint: show_content",
}
UNVARIED = {
    f"{section}.{key}"
    for lines in UNVARIED_BECAUSE.values()
    for section, keys in (line.strip().split(": ") for line in lines.strip().splitlines())
    for key in keys.split()
}


def test_every_setting_says_what_it_does():
    for one in ALL:
        assert one.text or one.default == "a section", one.key
        assert one.text.endswith(".") or not one.text, one.key
        # It fits beside its value in params.yaml.
        assert len(first_sentence(one.text)) <= 86, one.key


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


def test_what_repeats_the_texts_is_up_to_date():
    for path, text in generated().items():
        assert text == (ROOT / path).read_text(encoding="utf-8"), "python -m brido options --write"


def test_writing_keeps_the_params_file_that_was_there(tmp_path, monkeypatch):
    (tmp_path / "docs").mkdir()
    (tmp_path / PAGE).write_text("<!-- settings pool -->\n<!-- end -->\n", encoding="utf-8")
    (tmp_path / "params.yaml").write_text("pool: {minimum: 3}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(command, ["--write"]).exit_code == 0
    assert load_params() == Params()
    assert PREVIOUS.read_text(encoding="utf-8") == "pool: {minimum: 3}\n"


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
    key = re.sub(r"^(checkpoints|generation|reading|tuned|variants)\.\w+", r"\1.*", key)
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
        # A tuned system's and a variant's keys are those of their sections.
        if not one.key.startswith(("tuned.", "variants.")):
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
    assert sorted(unvaried - UNVARIED) == []
    assert sorted(UNVARIED - unvaried) == []
