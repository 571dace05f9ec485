"""How often what was computed is written down."""

# So often, but no more of the time than this share goes into writing.
STATE_SECONDS = 2.0
STATE_SHARE = 0.02


def pause(writing: float, longest: float) -> float:
    """Seconds to the next state on disk, when writing one takes `writing` seconds."""
    return min(longest, max(STATE_SECONDS, writing / STATE_SHARE))
