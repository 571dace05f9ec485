"""Guided searches against a plain implementation: every row asked anew, document by document."""

import pytest
import tiny_decoders
import tiny_models
import torch
from tiny_decoders import build_decoder, build_prompts
from tiny_models import build_model, build_sources

from brido.models.interface import Steps
from brido.search import (
    SamplingSettings,
    SearchSettings,
    beam_search,
    diverse_beam_search,
    sampling,
    search,
)
from brido.search.guidance import Guidance
from brido.search.sampling import document_uniforms, sample

DOCUMENTS, OTHERS = 3, 2
FAMILIES = [*tiny_models.FAMILIES, *tiny_decoders.FAMILIES]
SETTINGS = {
    "greedy": SearchSettings(num_beams=1, max_length=9),
    "beams": SearchSettings(num_beams=4, num_return_sequences=3, max_length=9),
    "groups": SearchSettings(
        num_beams=6, num_beam_groups=3, diversity_penalty=0.7, max_length=9, early_stopping=True
    ),
    "samples": SamplingSettings(num_return_sequences=3, top_p=0.9, max_length=9),
}


def build(family):
    """A model, its documents [B, S], and two others for each [B, K, S'], of another width."""
    if family in tiny_decoders.FAMILIES:
        model, make = build_decoder(family, 5, 1.0), build_prompts
    else:
        model = build_model(family, 5, 2.0)

        def make(seed, documents, length, padded):
            return build_sources(family, seed, documents, length, padded)

    own = make(1, DOCUMENTS, 7, True)
    others = make(2, DOCUMENTS * OTHERS, 9, True)
    return model, own, tuple(part.unflatten(0, (DOCUMENTS, OTHERS)) for part in others)


class PlainSteps(Steps):
    """Guided steps without a cache, a batch or a block: one whole forward pass for every row and
    document. `rows` holds (document, tokens so far) of every row."""

    scored = True

    def __init__(self, model, own, others, weight, floor):
        self.model, self.own, self.others = model, own, others
        self.weight, self.floor = weight, floor
        if model.config.is_encoder_decoder:
            self.given = (model.generation_config.decoder_start_token_id,)
        else:
            self.prompts = own[0].masked_fill(own[1] == 0, -1)

    def start(self, tokens, rows_a_document):
        self.rows = [(place, row.tolist()) for place, row in enumerate(tokens)]
        logits = self.logits()
        self.rows = [(place, list(row)) for place, row in self.rows for _ in range(rows_a_document)]
        return logits

    def step(self, tokens):
        for (_, row), token in zip(self.rows, tokens.tolist(), strict=True):
            row.append(token)
        return self.logits()

    def reorder(self, rows):
        self.rows = [(self.rows[row][0], list(self.rows[row][1])) for row in rows.tolist()]

    def keep(self, documents, rows_a_document):
        kept = [d * rows_a_document + n for d in documents.tolist() for n in range(rows_a_document)]
        self.rows = [self.rows[row] for row in kept]

    def logits(self):
        return torch.stack([self.guided(*row) for row in self.rows])

    def guided(self, document, tokens):
        own = self.log_probability(self.own[0][document], self.own[1][document], tokens)
        priors = [
            self.log_probability(ids, mask, tokens)
            for ids, mask in zip(self.others[0][document], self.others[1][document], strict=True)
        ]
        guided = own - self.weight * sum(priors) / len(priors)
        kept = own.exp() >= self.floor
        kept[own.argmax()] = True
        return torch.where(kept, guided, own - 1000)

    def log_probability(self, ids, mask, tokens):
        source = ids[mask.bool()][None]
        if self.model.config.is_encoder_decoder:
            logits = self.model(input_ids=source, decoder_input_ids=torch.tensor([tokens])).logits
        else:
            written = torch.tensor([tokens], dtype=torch.long)
            logits = self.model(input_ids=torch.cat([source, written], 1)).logits
        return logits[0, -1].float().log_softmax(-1)


def run(kind, model, own, guidance):
    settings = SETTINGS[kind]
    if kind == "samples":
        uniforms = document_uniforms(0, list("xyz"), 3, settings.max_length)
        return sample(model, *own, settings, uniforms, guidance)
    engine = diverse_beam_search if kind == "groups" else beam_search
    return engine(model, *own, settings, guidance)


@pytest.mark.parametrize("kind", SETTINGS)
@pytest.mark.parametrize("family", FAMILIES)
def test_equals_a_plain_implementation(family, kind, monkeypatch):
    with torch.no_grad():
        model, own, others = build(family)
        for weight, floor in ((0.4, 0.03), (0.8, 0.0)):
            found = run(kind, model, own, Guidance(*others, weight, floor))
            plain = PlainSteps(model, own, others, weight, floor)
            with monkeypatch.context() as patch:
                for module in (search, sampling):
                    patch.setattr(module, "guided_steps", lambda *_, steps=plain: steps)
                expected = run(kind, model, own, Guidance(*others))
            assert torch.equal(found.sequences, expected.sequences)
            torch.testing.assert_close(found.scores, expected.scores, rtol=1e-4, atol=1e-4)
