"""Section report: intervals, figures and the page."""

from typing import Annotated, ClassVar

from pydantic import Field

from brido.utils.sections import Positive, Section, Share


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
        description="The report warns if the mean length differs from base's by more than "
        "this share.",
    )
    page_documents: Positive = Field(60, description="Documents shown in report/index.html.")
