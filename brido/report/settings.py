"""Section report: intervals, figures and the page."""

from typing import Annotated

from pydantic import Field

from brido.settings.base import Count, Positive, Section, Share


class ReportSettings(Section):
    """`report`: intervals, figures and the page."""

    # Fewer have no tails that an interval could end in.
    bootstrap_samples: Annotated[int, Field(ge=20, le=1_000_000)] = 1000
    # A narrower interval need not hold the mean that it stands around.
    confidence: Annotated[float, Field(ge=0.5, lt=1)] = 0.95
    seed: Count = 0
    length_warning: Share = 0.03
    page_documents: Positive = 60
