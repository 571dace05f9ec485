"""Groups by length: who is in them, how long they are, and where their scored tokens stand."""

import pytest
import torch

from brido.likelihood.length_groups import group_by_length


def drawn(seed, documents, candidates, tokens):
    """Which tokens are scored: all up to a drawn length but the first, and one left out inside."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(2, tokens + 1, (documents, candidates), generator=generator)
    scored = torch.arange(tokens) < lengths[..., None]
    scored[..., 0] = False
    scored[0, 0, 1] = False
    return scored, lengths


@pytest.mark.parametrize(
    ("candidates", "largest", "sizes"),
    [
        (1, None, [1]), (6, None, [6]), (6, 9, [6]), (6, 6, [6]), (6, 2, [2, 2, 2]),
        (5, 2, [2, 2, 1]), (10, 4, [4, 3, 3]), (2, 1, [1, 1]), (40, None, [40]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("documents", [1, 3])
def test_every_candidate_once_in_groups_of_equal_size(documents, candidates, largest, sizes):
    for seed in range(6):
        scored, lengths = drawn(seed, documents, candidates, (12, 150, 2000)[seed % 3])
        groups = group_by_length(scored, largest)
        order = torch.cat([group.members for group in groups], dim=1)
        # Longest first; equal ones in their order.
        assert order.tolist() == lengths.argsort(dim=1, descending=True, stable=True).tolist()
        assert [group.members.shape[1] for group in groups] == sizes
        longest, start = lengths.sort(1, descending=True).values.amax(0).tolist(), 0
        for group, size in zip(groups, sizes, strict=True):
            assert group.length == longest[start]
            start += size
            wanted = [
                (document * size + place) * group.length + token
                for document in range(documents)
                for place, member in enumerate(group.members[document].tolist())
                for token in scored[document, member].nonzero()[:, 0].tolist()
            ]
            assert group.places.tolist() == wanted
