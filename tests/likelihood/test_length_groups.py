"""Groups by length against every way to cut the candidates, tried one by one."""

import itertools

import pytest
import torch

from brido.likelihood.likelihood import group_by_length


def drawn(seed, documents, candidates, tokens):
    """Which tokens are scored: all up to a drawn length but the first, and one left out inside."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(2, tokens + 1, (documents, candidates), generator=generator)
    scored = torch.arange(tokens) < lengths[..., None]
    scored[..., 0] = False
    scored[0, 0, 1] = False
    return scored, lengths


def cheapest(longest, most, price):
    """The least cost of all ways to cut candidates of these falling lengths into groups."""
    count = len(longest)
    costs = []
    for cuts in itertools.chain.from_iterable(
        itertools.combinations(range(1, count), number) for number in range(count)
    ):
        bounds = list(itertools.pairwise([0, *cuts, count]))
        if all(end - start <= most for start, end in bounds):
            costs.append(sum((end - start) * longest[start] + price for start, end in bounds))
    return min(costs)


@pytest.mark.parametrize("price", [0, 40, 700])
@pytest.mark.parametrize("largest", [1, 2, 9])
@pytest.mark.parametrize(("documents", "candidates"), [(1, 1), (1, 6), (3, 5), (4, 2)])
def test_every_candidate_once_its_scored_tokens_and_the_cheapest_cuts(
    documents, candidates, largest, price
):
    for seed in range(6):
        scored, lengths = drawn(seed, documents, candidates, (12, 150, 2000)[seed % 3])
        groups = group_by_length(scored, largest, price)
        order = torch.cat([group.members for group in groups], dim=1)
        # Longest first; equal ones in their order.
        assert order.tolist() == lengths.argsort(dim=1, descending=True, stable=True).tolist()
        longest = lengths.sort(1, descending=True).values.amax(0).tolist()
        cost, start = 0.0, 0
        for group in groups:
            size = group.members.shape[1]
            assert 1 <= size <= largest
            assert group.length == longest[start]
            cost += size * group.length + price
            start += size
            wanted = [
                (document * size + place) * group.length + token
                for document in range(documents)
                for place, member in enumerate(group.members[document].tolist())
                for token in scored[document, member].nonzero()[:, 0].tolist()
            ]
            assert group.places.tolist() == wanted
        assert cost == pytest.approx(cheapest(longest, largest, price), rel=1e-12)
