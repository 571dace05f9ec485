"""Section variants: systems that a checkpoint or a server writes, for which nothing is trained."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from brido.candidates.settings import (
    NO_CHECKPOINT,
    AskedSettings,
    DiverseBeamGeneration,
    LocalSource,
)
from brido.checkers.settings import (
    MentionsSupport,
    MiniCheckModel,
    MiniCheckSupport,
    SupportSettings,
)
from brido.models.settings import ReadingSettings
from brido.search.settings import DecodingSettings, GuidanceSettings
from brido.utils.sections import Section, inherited


class CheckedSettings(Section):
    """`variants.SYSTEM.checked`: where a document's summary fails the check, a candidate that
    passes takes its place."""

    candidates: Annotated[int, Field(ge=2, lt=2**31)] = Field(
        16, description="Candidates of a document whose own summary fails the check."
    )
    by: Literal["mentions", "minicheck"] = Field(
        "mentions", description="The check: mentions (names and numbers) | minicheck (a model)."
    )
    pick: Literal["likelihood", "vote"] = Field(
        "likelihood",
        description="Of the candidates that pass: likelihood (the likeliest) | vote (most alike).",
    )
    minicheck: MiniCheckModel | None = Field(
        None, description="The model of minicheck, {model, revision}; null: its default."
    )

    @property
    def support(self) -> SupportSettings:
        """The checker, as section support would name it."""
        if self.by == "mentions":
            return MentionsSupport(checker="mentions")
        model = self.minicheck or MiniCheckModel()
        return MiniCheckSupport(checker="minicheck", **model.model_dump())

    def source(self, written: LocalSource | None, max_length: int) -> LocalSource:
        """How candidates are written: as `written`, None: by diverse beams of that length."""
        if written is None:
            written = DiverseBeamGeneration(checkpoint="base", max_length=max_length)
        return written.with_candidates(self.candidates)


class AskedSystem(AskedSettings):
    """`variants.SYSTEM.endpoint`: a chat model behind a server writes the summaries, one each."""

    temperature: Annotated[float, Field(ge=0, le=2)] | None = inherited(
        AskedSettings, "temperature", 0.0
    )
    top_p: Annotated[float, Field(gt=0, le=1)] | None = inherited(AskedSettings, "top_p", None)
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = inherited(AskedSettings, "seed", None)
    prompt: str = Field(description="The user's turn, with {{ document }} in it.")
    system: str | None = Field(None, description="The system's turn; null: none.")

    @property
    def reading(self) -> ReadingSettings:
        """Its turns as section reading has them; the server gets whole documents."""
        return ReadingSettings(prompt=self.prompt, system=self.system)


class VariantSystem(DecodingSettings):
    """`variants.SYSTEM`: a system that a checkpoint writes with other keys of `decoding`, or a
    server."""

    checkpoint: str = Field(description="A key of checkpoints, or of tuned; with endpoint: none.")
    guidance: GuidanceSettings | None = Field(
        None,
        description="Other documents' likely words count less: {weight, floor, others, seed}; "
        "null: none.",
    )
    checked: CheckedSettings | None = Field(
        None,
        description="Where a summary fails a check, a candidate that passes takes its place; null: "
        "none.",
    )
    endpoint: AskedSystem | None = Field(
        None,
        description="A chat model behind a server writes the summaries; null: none.",
    )

    def problems(self) -> Iterator[str]:
        """A server writes by its own keys alone."""
        yield from super().problems()
        if (self.checkpoint == NO_CHECKPOINT) != (self.endpoint is not None):
            yield "checkpoint: must be none where a server writes (`endpoint`), and only there"
        if self.endpoint is not None:
            others = set(self.model_dump(exclude_none=True)) - {"checkpoint", "endpoint"}
            for key in sorted(others):
                yield f"{key}: a server does not hear it: delete it"

    def decoding(self, shared: DecodingSettings) -> DecodingSettings:
        """Section decoding with the keys that this variant sets."""
        names = DecodingSettings.model_fields
        own = {name: value for name in names if (value := getattr(self, name)) is not None}
        return shared.model_copy(update=own)
