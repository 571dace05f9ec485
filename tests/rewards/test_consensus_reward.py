"""The consensus of a prompt's completions as their reward, without a trainer."""

import json

import numpy as np
import pytest

from brido.rewards import ConsensusReward, consensus_reward
from brido.rouge import similarity_matrix
from brido.vote import consensus_scores
from brido.vote.signals import shuffled_scores

CATS = ["The cat sat on the mat.", "A cat sat.", "The dog ran away.", "The cat sat on a mat."]
NEWS = ["Two men died near Welton.", "Two men have died.", "A man died in Welton."]
PROMPTS = ["cats"] * 4 + ["news"] * 3


def voted(texts, combination="harmonic_r1_r2"):
    return consensus_scores(similarity_matrix(texts, "", combination), alpha=0).tolist()


def test_the_reward_of_a_batch_is_the_vote_of_each_prompt():
    assert consensus_reward(PROMPTS, CATS + NEWS) == voted(CATS) + voted(NEWS)


def test_messages_vote_as_texts_do():
    prompts = [[{"role": "user", "content": prompt}] for prompt in PROMPTS]
    # The same prompt, its keys in another order.
    prompts[1] = [{"content": PROMPTS[1], "role": "user"}]
    call = {"role": "assistant", "content": "I look it up."}
    answers = [[call, {"role": "assistant", "content": text}] for text in CATS + NEWS]
    assert consensus_reward(prompts, answers) == voted(CATS) + voted(NEWS)
    parts = [[{"role": "assistant", "content": [{"type": "text", "text": text}]}] for text in CATS]
    assert consensus_reward(prompts[:4], parts) == voted(CATS)


def test_completions_are_cleaned_as_the_pool_cleans():
    chatty = [f"Here is a summary:\n{CATS[0]}", f"<think>hm</think> {CATS[1]}", *CATS[2:]]
    assert consensus_reward(["p"] * 4, chatty) == voted(CATS)
    assert ConsensusReward(rules=())(["p"] * 4, chatty) == voted(chatty)


@pytest.mark.parametrize(
    "bad", ["", "  \n", "\u200b", "I'm sorry, I cannot summarize this.", "<think>so"]
)
def test_what_does_not_vote_has_no_reward(bad):
    assert consensus_reward(["p"] * 5, [*CATS, bad]) == [*voted(CATS), None]


def test_who_is_alone_has_no_reward():
    assert consensus_reward(["a", "b", "b"], [CATS[0], CATS[1], ""]) == [None, None, None]
    assert consensus_reward([], []) == []


def test_what_did_not_end_has_no_reward():
    ids = [[5, 6, 2], [5, 3], [2, 6], [7, 2], []]
    reward = ConsensusReward(end_tokens=(2, 3))
    texts = [*CATS, "The cat sat"]
    kept = voted([CATS[0], CATS[1], CATS[3]])
    assert reward(["p"] * 5, texts, ids) == [kept[0], kept[1], None, kept[2], None]
    with pytest.raises(ValueError, match="end_tokens need completion_ids"):
        reward(["p"] * 5, texts)
    with pytest.raises(ValueError, match="unknown rule 'typo'"):
        ConsensusReward(rules=("typo",))
    # Without end tokens it cannot be known; without tokens they would count for nothing.
    assert consensus_reward(["p"] * 5, texts, ids) == voted(texts)


def test_the_control_shuffles_within_a_prompt():
    reward = ConsensusReward(shuffled=True)
    found = reward(PROMPTS, CATS + NEWS)
    plain = consensus_reward(PROMPTS, CATS + NEWS)
    assert found != plain
    assert sorted(found[:4]) == sorted(plain[:4])
    assert sorted(found[4:]) == sorted(plain[4:])
    assert found[:4] == shuffled_scores(np.array([voted(CATS)]), ["cats"])[0].tolist()
    assert reward.__name__ != consensus_reward.__name__ == "consensus_reward"


def test_ties_and_missing_scores_are_told():
    told = {}
    prompts = ["p", "p", "q", "q", "q", "r", "s", "s", "s"]
    texts = [*CATS[:2], *NEWS[:2], "Ms Selwin rode a horse.", "alone", *CATS[:3]]
    consensus_reward(prompts, texts, log_metric=told.__setitem__, trainer_state=None, document=[])
    # Two candidates always tie.
    assert told == {
        "consensus/tied_groups": pytest.approx(1 / 3)
    }  # fmt: skip
    assert consensus_reward([], [], log_metric=told.__setitem__) == []


def _on_process(folder):
    """Each of two processes holds three of six completions, so that both groups are split."""
    import torch.distributed as dist
    from accelerate.state import PartialState

    PartialState()
    rank = dist.get_rank()
    prompts, texts = ["cats"] * 4 + ["news"] * 2, CATS + NEWS[:2]
    mine = slice(0, 3) if rank == 0 else slice(3, 6)
    found = {"gathered": consensus_reward(prompts[mine], texts[mine])}
    (folder / f"{rank}.json").write_text(json.dumps(found))


@pytest.mark.slow
def test_a_group_that_is_split_over_processes_votes_together(tmp_path):
    from accelerate import debug_launcher

    debug_launcher(_on_process, (tmp_path,), num_processes=2)
    found = [json.loads((tmp_path / f"{rank}.json").read_text()) for rank in (0, 1)]
    assert found[0]["gathered"] + found[1]["gathered"] == voted(CATS) + voted(NEWS[:2])
