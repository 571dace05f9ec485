"""Sections choice and report: which system a run keeps, intervals, figures and the page."""

from typing import Annotated, ClassVar

from pydantic import Field

from brido.utils.sections import Name, NonNegative, Positive, Section, Share


class ChoiceSettings(Section):
    """`choice`: which system a run keeps, decided on validation documents."""

    among: list[str] | None = Field(
        None,
        description="Systems that can be chosen; null: all that a checkpoint writes.",
    )
    by: Name | None = Field(
        None,
        description="METRIC.COLUMN that decides, such as qafacteval.f1; null: good summaries.",
    )
    rouge_loss: NonNegative | None = Field(
        1.0, description="ROUGE-1 points that a system may lose against base; null: any."
    )
    length_change: Share | None = Field(
        0.25,
        description="Share by which a mean length may differ from base's or the references'; "
        "null: any.",
    )
    standard_errors: NonNegative = Field(
        1.0,
        description="Base stays unless another is better by this many standard errors. They are "
        "those of the paired difference.",
    )


class ReportSettings(Section):
    """`report`: intervals, figures and the page."""

    # The share of the draws inside an interval, and what decides the draws.
    confidence: ClassVar[float] = 0.95
    seed: ClassVar[int] = 0

    # Fewer have no tails that an interval could end in.
    bootstrap_samples: Annotated[int, Field(ge=20, le=1_000_000)] = Field(
        1000, description="Bootstrap samples of the documents behind an interval."
    )
    length_warning: Share = Field(
        0.03,
        description="The report warns if the mean length that extractiveness measures differs "
        "from base's by more than this share.",
    )
    page_documents: Positive = Field(60, description="Documents shown in report/index.html.")
