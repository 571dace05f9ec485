"""The whole of params.yaml, and what its sections demand of each other."""

from collections.abc import Iterator

from pydantic import ValidationError

from brido.candidates.settings import NO_CHECKPOINT, SamplingGeneration
from brido.evaluation.registry import find_metric
from brido.settings.candidate_sources import (
    asked_problems,
    bad_names,
    no_key,
    pool_problems,
    source_problems,
)
from brido.settings.sections import MADE, RESERVED, Sections
from brido.utils.errors import close_to, quoted, short
from brido.utils.paths import user_path
from brido.utils.sections import problems_of
from brido.vote.settings import ScoringSettings

_NO_BASE = "base has no model (checkpoints.base.source: none)"


class Params(Sections):
    """The whole of params.yaml."""

    def problems(self) -> Iterator[str]:
        """What the sections demand of each other."""
        yield from self._checkpoints()
        if "base" in self.checkpoints and not self.has_base:
            yield from self._without_base()
        yield from self._systems()
        yield from self._scoring("scoring", self.scoring)
        yield from self._tuned()
        yield from self._variants()
        yield from self._metrics()
        yield from self._choice()
        yield from source_problems(self)
        yield from pool_problems(self)
        yield from self._reading()

    def warnings(self) -> Iterator[str]:
        """What is allowed and probably not meant."""
        known: dict[str, str] = {}
        for name in self.tuned:
            other = known.setdefault(str((self.scoring_of(name), self.training_of(name))), name)
            if other != name:
                yield (
                    f"tuned.{name} has the same settings as tuned.{other}, so both are the same "
                    "model: change one or delete it"
                )
        drawn: dict[tuple[str, int], str] = {}
        for name, source in self.generation.items():
            if isinstance(source, SamplingGeneration):
                other = drawn.setdefault((source.checkpoint, source.seed), name)
                if other != name:
                    yield f"generation.{name}.seed: {other} has it, too, and draws alike: change it"
        if "geval" in self.evaluation.metrics and self.evaluation.geval.model is None:
            yield "evaluation.geval.model: null names no judge, and stage evaluate needs one"
        if not self.has_base:
            yield (
                "checkpoints.base.source is none: `dvc repro score elect` makes candidates, "
                "check and scores. Training, and what compares with base, needs a model there"
            )

    def _checkpoints(self) -> Iterator[str]:
        if "base" not in self.checkpoints:
            yield "checkpoints: `base` is missing: it is the model that is tuned"
        yield from bad_names("checkpoints", self.checkpoints, RESERVED)
        for name, checkpoint in self.checkpoints.items():
            if checkpoint.source == NO_CHECKPOINT and name != "base":
                yield f"checkpoints.{name}.source: only base can be none: delete this key"
            form = "embedded" if checkpoint.source == "embedded" else "fine_tuning"
            learns = getattr(checkpoint, form)
            if learns and learns.world and self.data.source != "world":
                yield (
                    f"checkpoints.{name}.{form}.world: data.source is {self.data.source}, so there "
                    "are no articles of the world to learn from: write null, and the model learns "
                    "from the training split"
                )
            if learns and not learns.world and not self.data.labelled:
                way_out = "name a model in source" if form == "embedded" else "write null"
                yield f"checkpoints.{name}.{form}: {self._no_references}: {way_out}"

    def _without_base(self) -> Iterator[str]:
        """What candidates and scores need of base where `checkpoints.base.source` is none."""
        for name, source in self.generation.items():
            if source.checkpoint == "base":
                yield f"generation.{name}.checkpoint: {_NO_BASE}: name another, or delete {name}"
        for key in ("adapter", "fine_tuning"):
            if getattr(self.checkpoints["base"], key) is not None:
                yield f"checkpoints.base.{key}: {_NO_BASE}: write null"

    def _systems(self) -> Iterator[str]:
        known = ("base", *MADE)
        if "base" not in self.systems or len(set(self.systems)) < len(self.systems):
            yield (
                f"systems: {quoted(self.systems)} must have each name once, and `base`, with which "
                "every other system is compared"
            )
        if unknown := [name for name in self.systems if name not in known]:
            yield (
                f"systems: {quoted(unknown)} must be one of {', '.join(known)}. Tuned systems are "
                "keys of `tuned`. For the summaries of another checkpoint add a key to `variants`, "
                f"such as `zero_shot: {{checkpoint: {short(unknown[0])}}}`"
            )
        if "reference" in self.systems and not self.data.labelled:
            yield f"systems: remove `reference`, because {self._no_references}"
        if "elected" in self.systems and "test" not in self.documents.splits:
            yield (
                "systems: `elected` needs candidates of test documents: set documents.test to "
                "null, or delete `elected`"
            )

    def _tuned(self) -> Iterator[str]:
        yield from bad_names("tuned", self.tuned, (*RESERVED, *self.checkpoints))
        for name, system in self.tuned.items():
            if "unit" in system.scoring.model_fields_set:
                yield (
                    f"tuned.{name}.scoring.unit: stage pairwise reads it for all systems: set it "
                    "in section scoring"
                )
            try:
                training = self.training_of(name)
                scoring = self.scoring_of(name)
            except ValidationError as error:
                lines = problems_of(error, ScoringSettings)
                yield from (f"tuned.{name}: {line}" for line in lines)
                continue
            if not self.data.labelled and training.keep == "best_generator":
                yield f"tuned.{name}.training.keep: {self._no_references}: write best_ranker"
            if not self.data.labelled and training.gold_weight:
                yield f"tuned.{name}.training.gold_weight: {self._no_references}: set it to 0"
            if system.scoring.model_fields_set:
                yield from self._scoring(f"tuned.{name}.scoring", scoring)

    def _scoring(self, key: str, scoring: ScoringSettings) -> Iterator[str]:
        """What a section scoring, shared or of one system, demands of the other sections."""
        if not scoring.is_defined(self.num_candidates):
            yield (
                f"{key}.alpha: normalization `listing` is defined for 0, 1, "
                f"{self.num_candidates - 1} (N-1) and inf, not {scoring.alpha}; use "
                "normalization `equation`"
            )
        if scoring.asks_likelihood and not self.has_base:
            yield (
                f"{key}: information needs base's likelihood, and {_NO_BASE}: set it to 0, or "
                "delete the system"
            )
        if scoring.asks_prior and not self.likelihood.others:
            yield (
                f"likelihood.others: must be 1 or more, because {key}.information needs the "
                f"candidates' likelihood with other documents. Or set {key}.prior_weight to 0"
            )
        if scoring.alpha and not self.data.labelled:
            yield f"{key}.alpha: {scoring.alpha:g}, but {self._no_references}: set it to 0"

    @property
    def _no_references(self) -> str:
        return f"there are no references (data.{self.data.source}.summary_column is null)"

    def _variants(self) -> Iterator[str]:
        known = [*self.checkpoints, *self.tuned]
        yield from bad_names("variants", self.variants, (*RESERVED, *known))
        for name, system in self.variants.items():
            if system.endpoint is not None:
                yield from asked_problems(self, f"variants.{name}.endpoint", system.endpoint)
            elif system.checkpoint not in known:
                yield no_key(
                    f"variants.{name}.checkpoint", system.checkpoint, "checkpoints or tuned", known
                )
            for problem in system.decoding(self.decoding).problems():
                yield f"variants.{name} over section decoding: {problem}"

    def _choice(self) -> Iterator[str]:
        known = [name for name in self.all_systems if name not in MADE]
        for name in self.choice.among or ():
            if name not in known:
                yield no_key("choice.among", name, "systems, variants or tuned", known)
        if self.choice.among == []:
            yield "choice.among: name at least one system, or write null for all of them"
        measured = self.evaluation.metrics
        columns = [f"{name}.{one}" for name in measured for one in find_metric(name).names]
        by = self.decides
        if by is None:
            yield (
                "choice.by: no measured metric says which summaries are good: add world_judge (on "
                "the world) or mentions to evaluation.metrics, or name a column of another"
            )
        elif by not in columns:
            yield (
                f"choice.by: {quoted(by)} is not a column of a metric that evaluation.metrics "
                f"names{close_to(by, columns)}"
            )
        else:
            name, _, column = by.partition(".")
            found = find_metric(name)
            better = next(one.better for one in found.columns if one.name == column)
            if better == "neither" or (found.against_references and not self.data.labelled):
                yield (
                    f"choice.by: {by} has no direction here, so it cannot say which system is "
                    "best: name another column, or write null for good summaries"
                )
        if self.choice.rouge_loss is not None and self.data.labelled and "rouge" not in measured:
            yield "choice.rouge_loss: add rouge to evaluation.metrics, or write null"

    def _metrics(self) -> Iterator[str]:
        needs = [name for name in self.evaluation.metrics if find_metric(name).needs_facts]
        if needs and self.data.source != "world":
            yield (
                f"evaluation.metrics: remove {', '.join(needs)}, because only the embedded world "
                f"has facts, and data.source is {self.data.source}"
            )
        prompt = self.evaluation.geval.prompt
        is_file = prompt.endswith(".jinja")
        if "geval" in self.evaluation.metrics and is_file and not user_path(prompt).is_file():
            yield f"evaluation.geval.prompt: the file {prompt} does not exist"

    def _reading(self) -> Iterator[str]:
        asked = [name for name, one in self.generation.items() if one.method == "endpoint"]
        known = ["default", *self.checkpoints, *asked]
        for name in self.reading:
            if name not in known:
                yield no_key("reading", name, "checkpoints, nor an endpoint of generation", known)
            elif self.reading[name].prompt is not None and name not in asked:
                # Found by a stage it would be too late: DVC has removed what the stage had made.
                from brido.models.chats import message_problems

                yield from message_problems(self.reading[name], f"reading.{name}")
