"""What has to be asked: found out before anything is spent."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from brido.endpoint.answers import AskedModel, Message, Question
from brido.endpoint.store import AnswerStore

Prompt = tuple[AskedModel, Sequence[Message]]


class _Missing(NamedTuple):
    prompt: int
    answers: int
    characters: int


class Plan:
    """The questions of a run: keys for all of them, and those that lack answers.

    `answers` and `stored` count the answers that are missing and those that the store has.
    """

    def __init__(self, prompts: Sequence[Prompt], samples: int, store: AnswerStore) -> None:
        """Each of `prompts` is to have `samples` answers; equal prompts are one question.

        A prompt is taken again when its question is asked: a sequence that renders each anew keeps
        no text in memory.
        """
        self._prompts, self._samples, self._store = prompts, samples, store
        self.keys: list[str] = []
        self.missing: list[_Missing] = []
        seen: set[str] = set()
        for number in range(len(prompts)):
            model, messages = prompts[number]
            key = model.key(messages)
            question = Question(model, key, messages, self._lacking(key))
            self.keys.append(key)
            if question.samples and key not in seen:
                self.missing.append(_Missing(number, len(question.samples), question.characters))
            seen.add(key)
        self.answers = sum(item.answers for item in self.missing)
        self.stored = len(seen) * samples - self.answers

    def _lacking(self, key: str) -> list[int]:
        answered = self._store.samples(key)
        return [sample for sample in range(self._samples) if sample not in answered]

    def questions(self) -> Iterator[Question]:
        """The questions that lack answers, in order.

        The store is looked at again when the first is drawn: another run may have asked meanwhile.
        """
        lacking = [(item.prompt, self._lacking(self.keys[item.prompt])) for item in self.missing]
        for prompt, samples in lacking:
            if samples:
                model, messages = self._prompts[prompt]
                yield Question(model, self.keys[prompt], messages, samples)

    def calls(self, samples_per_call: int) -> int:
        """How many calls the missing answers take when no call fails."""
        return sum(-(-item.answers // samples_per_call) for item in self.missing)
