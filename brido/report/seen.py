"""What a verdict and a plan begin with: which errors the check that decides can see."""

from collections.abc import Mapping

from brido.checkers.seeing import Sensitivity

READ = "`brido read` shows twenty summaries of a run beside their documents"
# What reads a document, where names and numbers do not suffice.
READERS = ("minicheck", "qafacteval", "geval")


def blind(found: Sensitivity | None, exact: bool = False) -> bool:
    """Whether a check cannot tell good from bad here; exact: it knows the truth."""
    return found is not None and not exact and not found.answers


def seen_line(seen: Mapping[str, Sensitivity], check: str, exact: bool = False) -> str | None:
    """What a check sees, and the way out where that is too little; None where nothing was planted.

    seen: by metric. exact: the check knows the facts, so what it calls unsupported is.
    """
    found = seen.get(check)
    if found is None:
        return None
    text = f"{found.sentence(check, 'the references' if exact else 'your own summaries')}."
    if exact and found.unsupported.count:
        return f"{text} The references do say more than their documents."
    if not blind(found, exact):
        return text
    others = [name for name, one in seen.items() if name != check and one.answers]
    *readers, last = (name for name in READERS if name != check)
    way_out = f"measure by {', '.join(readers)} or {last}"
    if others:
        way_out = f"choose by {others[0]} (choice.by)"
    return f"{text} So it cannot say here which summaries are good: {READ}; or {way_out}."


def measured_by(chooses: str, measures: str | None, exact: bool = False) -> str:
    """Which check chose and which one measures what was chosen."""
    if measures:
        return f"{chooses} chooses, {measures} measures."
    return f"{chooses} chooses and measures{', as it knows the facts' if exact else ''}."
