"""Training decoder-only models of every family: losses against plain forwards, runs to the end."""

import pytest
import torch
from tiny_chat import END
from training_runs import CONFIGS, TOKENIZER, task_of

from brido.training.loss import ContrastiveLoss


def plain_sums(found, prompt, text):
    """Sum of log p, of mean log p, and the tokens of one text behind one prompt."""
    logits = found.model(torch.tensor([[*prompt, *text]])).logits[0, len(prompt) - 1 : -1]
    log_p = logits.log_softmax(-1)
    chosen = log_p.gather(1, torch.tensor(text)[:, None]).sum()
    return torch.stack([chosen, log_p.mean(-1).sum(), torch.tensor(float(len(text)))])


@pytest.mark.parametrize("family", CONFIGS)
def test_the_loss_is_equations_1_and_3_of_plain_forwards(family, tmp_path):
    task = task_of(family, tmp_path, label_smoothing=0.1, length_penalty=0.8)
    documents = [task.documents[0], task.documents[1]]
    batch = task.batches.batch(documents)
    tokens = task.batches.target_tokens(documents)
    loss = ContrastiveLoss(task.model, task.settings)(batch, tokens, 2)
    cross_entropy, contrastive, scored = 0.0, 0.0, 0
    for row, document in enumerate(documents):
        prompt = batch.sources.ids[row][batch.sources.mask[row].bool()].tolist()
        texts = [
            [*TOKENIZER(text, add_special_tokens=False).input_ids, END][:24]
            for text in (document.reference, *document.candidates)
        ]
        sums = [plain_sums(task.language, prompt, text) for text in texts]
        cross_entropy -= 0.9 * sums[0][0] + 0.1 * sums[0][1]
        scored += len(texts[0])
        f = [part[0] / part[2] ** 0.8 for part in sums[1:]]
        for offset in (1, 2):
            costs = [
                (f[i + offset] - f[i] + 0.1 * (document.scores[i] - document.scores[i + offset]))
                for i in range(3 - offset)
            ]
            contrastive += sum(cost.clamp(min=0) for cost in costs) / (3 - offset) / 2
    assert tokens == scored
    expected = cross_entropy / scored + 2.0 * contrastive
    torch.testing.assert_close(loss.loss, expected, rtol=2e-4, atol=1e-5)
