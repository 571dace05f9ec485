"""The checkers that section `support` of params.yaml may name, each a callable of one signature."""

from collections.abc import Sequence
from functools import partial

from brido.checkers.mentions import mentions_of, world_mentions
from brido.checkers.settings import DOUBT, MiniCheckModel, MiniCheckSupport, SupportSettings
from brido.checkers.texts import Checked, Checker, SourceText, Texts
from brido.work.folder import answers_file
from brido.work.settings import RuntimeSettings


def make_checker(settings: SupportSettings, runtime: RuntimeSettings, device: str) -> Checker:
    """The checker that section `support` names; BridoError if its model cannot be loaded."""
    if isinstance(settings, MiniCheckSupport):
        return by_model(settings, runtime, device)
    return partial(by_mentions, case_sensitive=settings.case_sensitive)


def by_mentions(
    sources: Sequence[SourceText], texts: Texts, case_sensitive: bool = True
) -> list[list[Checked]]:
    """The share of mentions that are supported; a text without any claims nothing: 1.

    `case_sensitive` is for documents without facts.
    """

    def check(source: SourceText, text: str) -> Checked:
        mentions = mentions_of(source.document, text, source.facts, case_sensitive)
        supported = sum(mention.supported for mention in mentions)
        return Checked(supported / len(mentions) if mentions else 1.0, len(mentions) - supported)

    return [
        [check(source, text) for text in own] for source, own in zip(sources, texts, strict=True)
    ]


def by_model(settings: MiniCheckModel, runtime: RuntimeSettings, device: str) -> Checker:
    """MiniCheck: the mean probability of a text's sentences, 1 without any.

    Sentences in doubt are unsupported, where the source has no facts.
    """
    from brido.checkers.minicheck import MiniCheck

    store = answers_file("minicheck")
    how = (device, runtime.precision, runtime.batch_tokens, store, "support")
    model = MiniCheck.load(settings.model, settings.revision, *how)

    def check(sources: Sequence[SourceText], texts: Texts) -> list[list[Checked]]:
        documents = [one.document for one, own in zip(sources, texts, strict=True) for _ in own]
        sentences = iter(model.sentences(documents, [text for own in texts for text in own]))
        return [
            [judged(source, text, [claim.probability for claim in next(sentences)]) for text in own]
            for source, own in zip(sources, texts, strict=True)
        ]

    def judged(source: SourceText, text: str, probabilities: list[float]) -> Checked:
        if source.facts is None:
            unsupported = sum(value < DOUBT for value in probabilities)
        else:
            mentions = world_mentions(text, source.facts)
            unsupported = sum(not mention.supported for mention in mentions)
        mean = sum(probabilities) / len(probabilities) if probabilities else 1.0
        return Checked(mean, unsupported)

    return check
