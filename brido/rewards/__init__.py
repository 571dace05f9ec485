"""The vote as a reward for trainers that write several completions of each prompt."""

from brido.utils.lazy import lazy

_PUBLIC = {"ConsensusReward": "consensus", "consensus_reward": "consensus"}
__all__ = list(_PUBLIC)
__getattr__, __dir__ = lazy(__name__, _PUBLIC, "trl")
