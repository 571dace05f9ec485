"""Train a language model on the consensus of its own summaries, with TRL's GRPO.

    pip install ".[torch]" trl
    python examples/grpo.py --steps 200 --output grpo
    python examples/grpo.py --shuffled --output control      # the same scores, shuffled

The reward needs no reference and no judge. --documents FILE reads JSON lines with `document` (or,
as SciTLDR has them, a list of sentences `source`) in place of the embedded world's articles.
What the control gains as well does not come from the vote: train it too.
"""

import argparse
import json
from itertools import islice
from pathlib import Path

from brido.corpus.settings import WorldSettings
from brido.rewards import ConsensusReward
from brido.utils.extras import extra
from brido.world import documents

PROMPT = "Summarise this article in one sentence.\n\n"


def read_documents(file: Path | None, count: int) -> list[str]:
    """The first documents of a file, or of the embedded world without one."""
    if file is None:
        return [row["document"] for row in documents(WorldSettings(), "train", count)]
    with file.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in islice(lines, count)]
    return [row["document"] if "document" in row else " ".join(row["source"]) for row in rows]


def train(options: argparse.Namespace) -> None:
    """Run GRPO; the tuned model and its log are written to `options.output`."""
    with extra():
        from datasets import Dataset
        from transformers import AutoModelForCausalLM, AutoTokenizer
        from trl import GRPOConfig, GRPOTrainer

    tokenizer = AutoTokenizer.from_pretrained(options.model)
    model = AutoModelForCausalLM.from_pretrained(options.model, dtype="float32")
    ends = model.generation_config.eos_token_id
    reward = ConsensusReward(
        shuffled=options.shuffled,
        end_tokens=(ends,) if isinstance(ends, int) else tuple(ends),
    )
    prompts = [PROMPT + text for text in read_documents(options.documents, options.count)]
    if tokenizer.chat_template:
        prompts = [[{"role": "user", "content": prompt}] for prompt in prompts]
    settings = GRPOConfig(
        output_dir=str(options.output),
        max_steps=options.steps,
        num_generations=options.generations,
        per_device_train_batch_size=options.generations,
        max_completion_length=options.tokens,
        learning_rate=options.learning_rate,
        temperature=1.0,
        logging_steps=1,
        report_to="none",
        save_strategy="no",
        use_cpu=options.cpu,
        bf16=not options.cpu,
        seed=options.seed,
    )
    trainer = GRPOTrainer(
        model,
        reward_funcs=reward,
        args=settings,
        train_dataset=Dataset.from_dict({"prompt": prompts}),
        processing_class=tokenizer,
    )
    trainer.train()
    trainer.save_model(str(options.output))
    log = options.output / "log.json"
    log.write_text(json.dumps(trainer.state.log_history, indent=1), encoding="utf-8")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="HuggingFaceTB/SmolLM2-135M-Instruct")
    parser.add_argument("--documents", type=Path, help="JSON lines; default: the embedded world")
    parser.add_argument("--count", type=int, default=500, help="documents that are read")
    parser.add_argument("--generations", type=int, default=8, help="completions of a prompt")
    parser.add_argument("--tokens", type=int, default=64, help="most tokens of a completion")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--learning-rate", type=float, default=1e-6)
    parser.add_argument("--shuffled", action="store_true", help="the control")
    parser.add_argument("--cpu", action="store_true", help="train on the processor")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=Path("grpo"))
    train(parser.parse_args())


if __name__ == "__main__":
    main()
