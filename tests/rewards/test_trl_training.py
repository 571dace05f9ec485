"""The consensus reward in TRL's own trainers: some steps on a tiny model."""

import pytest
import torch
from tiny_chat import END, TEXT_END, WORDS, chat_tokenizer, tiny_llama

from brido.rewards import ConsensusReward

pytestmark = pytest.mark.slow
trl = pytest.importorskip("trl", reason="needs `pip install trl`")


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory):
    """A tiny chat model that has learned to write a few words and to end."""
    folder = tmp_path_factory.mktemp("model") / "tiny"
    model, tokenizer = tiny_llama(max_position_embeddings=1024), chat_tokenizer()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    words = [tokenizer.convert_tokens_to_ids(word) for word in WORDS]
    generator = torch.Generator().manual_seed(0)
    for _ in range(60):
        rows = torch.tensor(words)[torch.randint(len(words), (16, 9), generator=generator)]
        ends = torch.randint(4, 9, (16,), generator=generator)
        rows[torch.arange(16), ends] = END
        # What follows the end is not learned.
        labels = rows.masked_fill(torch.arange(9) > ends[:, None], -100)
        model(input_ids=rows, labels=labels).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.generation_config.pad_token_id = 0
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


class Recorder(ConsensusReward):
    """The reward, and what it was given and returned."""

    calls: list = []  # noqa: RUF012

    def __call__(self, prompts, completions, completion_ids=None, **columns):
        rewards = super().__call__(prompts, completions, completion_ids, **columns)
        self.calls.append((prompts, completions, completion_ids, rewards))
        return rewards


@pytest.mark.parametrize(("kind", "conversational"), [("GRPO", True), ("RLOO", False)])
def test_trainers_train_on_the_vote(kind, conversational, model_folder, tmp_path):
    from datasets import Dataset

    prompts = ["the cat sat in the", "in the cat", "sat the cat in"]
    if conversational:
        prompts = [[{"role": "user", "content": prompt}] for prompt in prompts]
    settings = getattr(trl, f"{kind}Config")(
        output_dir=str(tmp_path),
        max_steps=3,
        num_generations=4,
        per_device_train_batch_size=8,
        max_completion_length=16,
        learning_rate=1e-2,
        logging_steps=1,
        report_to="none",
        save_strategy="no",
        use_cpu=True,
        bf16=False,
    )
    reward = Recorder(end_tokens=(END, TEXT_END))
    reward.calls.clear()
    trainer = getattr(trl, f"{kind}Trainer")(
        str(model_folder),
        reward_funcs=reward,
        args=settings,
        train_dataset=Dataset.from_dict({"prompt": prompts}),
        processing_class=chat_tokenizer(),
    )
    before = {name: one.clone() for name, one in trainer.model.named_parameters()}
    trainer.train()
    assert any(not one.equal(before[name]) for name, one in trainer.model.named_parameters())
    assert reward.calls
    for called, completions, ids, rewards in reward.calls:
        assert len(rewards) == len(called) == 8
        for prompt in called:
            group = [place for place, other in enumerate(called) if other == prompt]
            parts = [[part[place] for place in group] for part in (called, completions, ids)]
            alone = ConsensusReward(end_tokens=(END, TEXT_END))
            assert [rewards[place] for place in group] == alone(*parts)
    logged = [row for row in trainer.state.log_history if "rewards/consensus_reward/mean" in row]
    assert len(logged) == 3
    assert all("consensus/tied_groups" in row for row in logged)
    assert any(row["rewards/consensus_reward/mean"] for row in logged)
