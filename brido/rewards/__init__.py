"""Rewards for trainers that write several completions of each prompt: the vote, and metrics."""

from typing import TYPE_CHECKING

from brido.utils.lazy import lazy

if TYPE_CHECKING:
    from brido.rewards.consensus import ConsensusReward as ConsensusReward
    from brido.rewards.consensus import consensus_reward as consensus_reward
    from brido.rewards.measured import MetricReward as MetricReward

_PUBLIC = {
    "ConsensusReward": "consensus",
    "consensus_reward": "consensus",
    "MetricReward": "measured",
}
__all__ = list(_PUBLIC)
__getattr__, __dir__ = lazy(__name__, _PUBLIC)
