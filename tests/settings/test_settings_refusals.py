"""What params.yaml cannot mean is refused when it is read, with the key and the way out."""

import math

import pytest

from brido.settings.load import check_params, load_params
from brido.utils.errors import BridoError

BASE = {"checkpoints": {"base": {"source": "embedded"}}}
FILES = {
    "checkpoints": {"base": {"source": "a/model"}},
    "data": {"source": "files", "files": {"train": "a.jsonl"}},
}
UNLABELLED = FILES | {
    "data": {"source": "files", "files": {"train": "a.jsonl", "summary_column": None}},
    "systems": ["base", "elected"],
}
BIG = {"checkpoint": "none", "method": "endpoint", "model": "m", "num_candidates": 2}
PRIOR = {"information": 1.0, "prior_weight": 0.1}


def problems(**sections) -> str:
    with pytest.raises(BridoError) as caught:
        check_params({**BASE, **sections})
    return str(caught.value)


def embedded(**changes) -> dict:
    return {"checkpoints": {"base": {"source": "embedded", "embedded": changes}}}


def source(**changes) -> dict:
    """`generation` with one source, `base`."""
    return {"generation": {"base": {"checkpoint": "base", **changes}}}


def scoring(**changes) -> dict:
    return {"tuned": {"x": {"scoring": changes}}}


def files(**changes) -> dict:
    return {"data": {"source": "files", "files": {"train": "a", **changes}}}


def measured(*metrics: str, **changes) -> dict:
    """Section evaluation with these metrics."""
    return {"evaluation": {"metrics": list(metrics)} | {name: {} for name in metrics} | changes}


def served(reading=("big",), name="big", runtime=None, **changes) -> dict:
    """A source that asks a server, with a prompt for each of these readings."""
    prompts = {one: {"prompt": "A {{ document }}"} for one in reading}
    generation = {"base": {"checkpoint": "base"}, name: BIG | changes}
    return {"generation": generation, "reading": prompts, "runtime": runtime or {}}


# Sections, and what the message names.
REFUSED = [
    # Keys and forms.
    ({"scoring": {"alhpa": 1}}, "did you mean scoring.alpha?"),
    ({"reading": {"base": {"prompt": "\x1b[2J{{ document }}"}}}, "reading.base.prompt: holds"),
    (source(max_source_tokens=3), "max_source_tokens: belongs to reading.default."),
    ({"data": {"source": "wrld"}}, "data.source: must be 'world', 'hub' or 'files', not 'wrld'"),
    ({"systems": [["base"]]}, "systems.0: must be a valid string, not ['base']"),
    ({"decoding": {"num_beams": "None"}}, "written null"),
    # Values out of range.
    (embedded(tokenizer="bpe", vocabulary_size=259), "vocabulary_size (259)"),
    (embedded(attention_heads=3), "d_model (128) must be a multiple of attention_heads (3)"),
    *(({"training": {"warmup_steps": value}}, f"a share of them below 1, not {value!r}")
      for value in (-1, 1.5, math.nan, True, 2**63)),
    *(({"scoring": {"alpha": value}}, "scoring.alpha")
      for value in ("None", "31", -1, math.nan, True)),
    *(({"runtime": {"endpoint": {key: value}}}, f"runtime.endpoint.{key}: ") for key, value in (
        ("max_attempts", 0), ("max_concurrency", 0), ("timeout_seconds", 0), ("max_cost", -1))),
    ({"scoring": {"alpha": 2.5, "normalization": "listing"}}, "15 (N-1)"),
    ({"decoding": {"min_length": 9, "max_length": 8}}, "min_length (9)"),
    (source(num_beams=15, num_beam_groups=2), "num_beam_groups (2) must divide num_beams (15)"),
    ({"pairwise": {"combination": "mean"}}, "pairwise.combination: 'mean' is no"),
    # Data.
    ({"data": {"world": {"extras_per_reference": [2, 1]}}}, "fewest first"),
    ({"data": {"lowercase": True}}, "data: lowercase: "),
    (files(test_fraction=0.0), "data.files: test_fraction: 0 leaves test empty"),
    (files(summary_column=["a", "a"]), "summary_column: a is named more than once"),
    # Names.
    ({"checkpoints": {**BASE["checkpoints"], "default": {"source": "x/y"}}}, "`default` cannot be"),
    ({"reading": {"tuned": {}}}, "reading: 'tuned' is not a key of checkpoints"),
    # Names that differ in capitals alone would share a folder on some disks.
    ({"tuned": {"vote": {}, "Base": {}}}, "tuned: `Base`"),
    *(({"tuned": {name: {}}}, f"tuned: `{name}`") for name in ("base", "elected", "reference")),
    ({"variants": {"vote": {"checkpoint": "base"}}}, "variants: `vote`"),
    # Sources of candidates and the pool.
    (source(num_candidates=1), "generation: num_candidates must be at least 2"),
    (source(checkpoint="bgi"), "generation.base.checkpoint: 'bgi'"),
    (source(method="files", checkpoint="none", files={"train": "a.jsonl"}), "files.validation: "),
    ({"pool": {"eligible": ["bse"]}}, "pool.eligible: ['bse']"),
    (served(endpoint="locl", runtime={"endpoints": {"local": {}}}), "generation.big.endpoint: "
     "'locl' is not a key of runtime.endpoints; known here: default, local"),
    (served(reading=()), "reading.big.prompt: this key is missing"),
    *((served((name,), name), f"generation.{name}: a") for name in ("base", "vote", "short")),
    ({"generation": {"big": BIG, "other": BIG},
     "reading": {"default": {"prompt": "A {{ document }}"}}},
     "generation.other asks what generation.big asks"),
    (served(temperature=0), "temperature: at 0"),
    (served(extra_parameters={"seed": 1, "n": 2}), "extra_parameters: n, seed"),
    ({"reading": {"default": {"prompt": "{{ document[:5] }}"}}}, "reading.default"),
    # Systems.
    ({"systems": ["reference", "base", "brio"]}, "zero_shot: {checkpoint: brio}"),
    *(({"systems": names}, "each name once, and `base`")
      for names in (["reference"], ["base", "base"])),
    ({"variants": {"x": {"checkpoint": "y"}}}, "variants.x.checkpoint: 'y'"),
    (scoring(unit="sentence"), "tuned.x.scoring.unit: "),
    ({"scoring": {"information": 0.7}} | scoring(support=0.5), "tuned.x: support (0.5)"),
    ({"likelihood": {"others": 0}} | scoring(**PRIOR), "tuned.x.scoring.prior_weight"),
    # Stages read the shared section, whatever the systems change.
    ({"likelihood": {"others": 0}, "scoring": PRIOR} | scoring(information=0.0),
     "set scoring.prior_weight to 0"),
    (scoring(alpha=2.5, normalization="listing"), "tuned.x.scoring.alpha: "),
    ({"decoding": {"max_length": 20}, "variants": {"s": {"checkpoint": "base", "min_length": 30}}},
     "variants.s over section decoding: min_length (30)"),
    ({"training": {"gold_weight": 1.0, "cross_entropy": "elected"}}, "cross_entropy is elected"),
    (UNLABELLED | {"training": {"keep": "best_generator"}}, "training.keep: there are no ref"),
    (UNLABELLED | {"training": {"gold_weight": 1.0, "cross_entropy": "reference"}},
     "training.gold_weight: there are no references"),
    # Metrics and the choice by them.
    (measured(), "each once"),
    ({"evaluation": {"metrics": ["rogue"]}}, "['rogue'] must name some of"),
    # DVC reads the section of every metric.
    ({"evaluation": {"metrics": ["rouge", "geval"], "rouge": {}}}, "'+evaluation.geval.KEY=VALUE'"),
    ({"evaluation": {"geval": {"temperature": 0.0}}}, "paid for 20 times: raise it"),
    (measured("world_judge", "rouge", "geval", geval={"model": "m", "prompt": "no.jinja"}),
     "evaluation.geval.prompt: the file no.jinja"),
    (measured("rouge", "mentions"), "add world_judge"),
    (FILES | measured("rouge"), "or mentions to"),
    (FILES | measured("mentions"), "choice.rouge_loss: add rouge"),
    (FILES | measured("rouge", "mentions", "world_qa", "world_judge"), "remove world_qa, world_j"),
    ({"choice": {"among": ["vote", "voted"]}}, "choice.among: 'voted'"),
    ({"choice": {"by": "rogue.r1"}}, "did you mean rouge.r1?"),
    ({"choice": {"by": "extractiveness.length"}}, "choice.by: extractiveness.length has no"),
    (UNLABELLED | measured("rouge", "mentions") | {"choice": {"by": "rouge.r1"}},
     "choice.by: rouge.r1 has no direction"),
]  # fmt: skip


@pytest.mark.parametrize(("sections", "named"), REFUSED)
def test_what_would_fail_later_is_refused_at_once(sections, named):
    message = problems(**sections)
    assert named in message
    # No word of the library, and no control character.
    for word in ("discriminator", "dictionary", "Settings", "Input should", "\x1b"):
        assert word not in message


def test_all_problems_stand_in_one_message_and_values_are_shown_escaped_and_cut():
    wrong = {"normalization": "\x1b[2J" + "x" * 100_000, "\x1b" * 9: 1}
    message = problems(scoring=wrong, pairwise={"combination": "mean"}, trianing={})
    assert message.startswith("params.yaml has 4 problems:\n")
    assert "\x1b" not in message
    assert len(message) < 600


# A params.yaml, and what the message names.
FILES_REFUSED = [
    (None, "is missing"),
    ("a: [", "cannot be read as YAML"),
    ("- 1", "a list"),
    ("# nothing\n", "is empty"),
    ("scoring:\n  prior: 1\n   alpha: 0\n", "line 3: "),
    ("pool: {}\npool: {}\n", "line 2: "),
    pytest.param("data: {source: 2024-99-99}", "params.yaml", id="date"),
    pytest.param("data: {source: " + "9" * 5000 + "}", "params.yaml", id="digits"),
    pytest.param("data: " + "[" * 1000 + "]" * 1000, "params.yaml", id="nesting"),
]


@pytest.mark.parametrize(("text", "named"), FILES_REFUSED)
def test_a_file_that_holds_no_settings_is_one_sentence(tmp_path, text, named):
    if text is not None:
        (tmp_path / "params.yaml").write_text(text)
    with pytest.raises(BridoError) as caught:
        load_params(tmp_path / "params.yaml")
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)
