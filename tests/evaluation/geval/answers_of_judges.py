"""Answers in the forms that judges write, each with the mark that a person reads in it.

They answer a question for coherence (1 to 5), in the forms of chat models of several houses, as
their templates, G-Eval's and MT-Bench's prompts and public threads about their parsing show; the
words are ours. A reason in place of a mark says why there is none.
"""

# (what is special about it, the answer, the mark or why there is none)
ONE = [
    ("criterion and score", "Coherence score: 4", 4),
    ("a sum", "Score: 5 - 1 = 4", 4),
    ("a falling dash and reason", "Score: 4 - 2 sentences repeat each other", 4),
    ("the scale explained", "On a scale of 1 to 5, where 5 is best, I give it a 4.", 4),
    ("the scale listed", "1: poor\n3: fair\n5: good\n\nMy score: 4", 4),
    ("second thoughts", "I first gave it a 2. On reading again I give it a 4.", 4),
    ("denied", "It does not deserve a 5. I give it a 3.", 3),
    ("confidence behind", "Score: 4\nConfidence: 5", 4),
    ("json that names its criterion", '{"criterion": "coherence", "rating": 4}', 4),
    ("table of one column", "| Score |\n|:---:|\n| **4** |", 4),
    ("table with the best mark", "| Criterion | Max | Score |\n|---|---|---|\n"
     "| Coherence | 5 | 4 |", 4),
    ("channels", "<|channel|>analysis<|message|>Score: 2?<|end|><|start|>assistant"
     "<|channel|>final<|message|>4<|return|>", 4),
    ("others beside it", "Relevance: 2\nCoherence: 4\nFluency: 3", 4),
    ("thoughts without an end", "<think>It is a 4, I think. Score: 4", "cut_off"),
    ("a count of a label", "Coherence: 4 sentences jump.", "missing"),
    ("a share of a count", "4 out of the 5 facts are linked.", "missing"),
    ("a choice", "Score: 3 or 4", "missing"),
    ("the scale as numbers", "1\n2\n3\n4\n5", "missing"),
    ("a condition", "I would give it a 5 if it ended well.", "missing"),
    ("another criterion's in json", '{"criterion": "fluency", "score": 3}', "missing"),
    ("counting", "Let me count: 1, 2, 3, 4, 5 facts.", "missing"),
    ("zero", "0", "off_scale"),
    ("points of ten", "Score: 4 points out of 10", "off_scale"),
    ("of ten in a key beside it", '{"score": 4, "max_score": 10}', "off_scale"),
    ("of ten in words beside it", '{"score": 4, "scale": "1-10"}', "off_scale"),
    ("the best one first, in Japanese", "評価：5点満点中4点", "missing"),
    ("words", '{"score": "high"}', "not_a_number"),
]  # fmt: skip
