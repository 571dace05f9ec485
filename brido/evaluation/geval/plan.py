"""What has to be asked, and what it will take: found out before anything is spent."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from brido.evaluation.geval.answers import Judge, Message, Question
from brido.evaluation.geval.budget import EXPECTED_ANSWER_TOKENS, Budget
from brido.evaluation.geval.prompts import Prompt
from brido.evaluation.geval.store import Store


@dataclass(frozen=True)
class _Missing:
    document: int
    group: int
    samples: tuple[int, ...]
    characters: int


class Plan:
    """The questions of a run: keys for all of them, and those that lack answers.

    Prompts are rendered again when a question is asked, so memory holds keys, not documents.
    """

    def __init__(
        self,
        prompt: Prompt,
        judges: Sequence[Judge],
        documents: Sequence[str],
        summaries: Sequence[str],
        samples: int,
        store: Store,
    ) -> None:
        self._prompt, self.judges = prompt, judges
        self._documents, self._summaries = documents, summaries
        self.samples = samples
        self.keys: list[list[str]] = []
        self.missing: list[_Missing] = []
        self.stored = 0
        seen: set[str] = set()
        for document in range(len(documents)):
            keys = []
            for group, judge in enumerate(judges):
                messages = self._messages(document, group)
                key = judge.key(messages)
                keys.append(key)
                # The same summary of the same document is one question, however often it comes.
                if key not in seen:
                    seen.add(key)
                    self._look_up(store, document, group, key, len(messages[0]["content"]))
            self.keys.append(keys)

    def _look_up(self, store: Store, document: int, group: int, key: str, characters: int) -> None:
        answered = store.samples(key)
        missing = tuple(sample for sample in range(self.samples) if sample not in answered)
        self.stored += self.samples - len(missing)
        if missing:
            self.missing.append(_Missing(document, group, missing, characters))

    def _messages(self, document: int, group: int) -> list[Message]:
        text = self._prompt.render(
            self._documents[document], self._summaries[document], self._prompt.groups[group]
        )
        return [{"role": "user", "content": text}]

    def questions(self) -> Iterator[Question]:
        """The questions that lack answers, in order of documents."""
        for item in self.missing:
            key = self.keys[item.document][item.group]
            messages = self._messages(item.document, item.group)
            yield Question(self.judges[item.group], key, messages, item.samples)

    def calls(self, samples_per_call: int) -> int:
        """How many calls the missing answers take when no call fails."""
        return sum(-(-len(item.samples) // samples_per_call) for item in self.missing)

    @property
    def answers(self) -> int:
        """How many answers are missing."""
        return sum(len(item.samples) for item in self.missing)

    def forecast(self, budget: Budget, samples_per_call: int, answer_limit: int) -> str:
        """Calls, tokens and cost of the missing answers in words, for a dry run."""
        prompts = sum(
            budget.prompt_estimate(item.characters) * -(-len(item.samples) // samples_per_call)
            for item in self.missing
        )
        likely = self.answers * min(answer_limit, EXPECTED_ANSWER_TOKENS)
        longest = self.answers * answer_limit
        lines = [
            f"calls to make:  {self.calls(samples_per_call):,} for {self.answers:,} answers "
            f"({self.stored:,} more are in the store)",
            f"prompt tokens:  about {prompts:,}",
            f"answer tokens:  about {likely:,}, at most {longest:,}",
        ]
        if budget.priced:
            about = budget.cost(prompts, likely)
            most = budget.cost(prompts, longest)
            lines.append(f"cost:           about {about:.2f}, at most about {most:.2f}")
        else:
            lines.append("cost:           set runtime.judge.input_price and output_price to see it")
        return "\n".join(lines)
