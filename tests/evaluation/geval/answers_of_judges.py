"""Answers in the forms that judges write, each with the mark that a person reads in it.

They answer a question for coherence (1 to 5), in the forms of chat models of several houses, as
their templates, G-Eval's and MT-Bench's prompts and public threads about their parsing show; the
words are ours. A reason in place of a mark says why there is none.
"""

# (what is special about it, the answer, the mark or why there is none)
ONE = [
    ("label", "Score: 4", 4),
    ("criterion and score", "Coherence score: 4", 4),
    ("a sum", "Score: 5 - 1 = 4", 4),
    ("a falling dash and reason", "Score: 4 - 2 sentences repeat each other", 4),
    ("steps behind the label", "Coherence:\n1. I read it.\n2. I compared it.\nScore: 3", 3),
    ("the scale explained", "On a scale of 1 to 5, where 5 is best, I give it a 4.", 4),
    ("the best explained", "Maximum score: 5\nScore: 4", 4),
    ("the scale listed", "1: poor\n3: fair\n5: good\n\nMy score: 4", 4),
    ("bullets behind", "Score: 4\n- 5 sentences, 2 of them long", 4),
    ("what a better one would need", "4\n\nA score of 5 would need a better end.", 4),
    ("second thoughts", "I first gave it a 2. On reading again I give it a 4.", 4),
    ("denied", "It does not deserve a 5. I give it a 3.", 3),
    ("confidence behind", "Score: 4\nConfidence: 5", 4),
    ("counts with labels", "Number of sentences: 3\nErrors: 1\nCoherence: 5", 5),
    ("json of a score", '{"score": 4, "reason": "It has 2 gaps."}', 4),
    ("json that names its criterion", '{"criterion": "coherence", "rating": 4}', 4),
    ("json in a list", '[{"score": 4}]', 4),
    ("table of one column", "| Score |\n|:---:|\n| **4** |", 4),
    ("table with the best mark", "| Criterion | Max | Score |\n|---|---|---|\n"
     "| Coherence | 5 | 4 |", 4),
    ("channels", "<|channel|>analysis<|message|>Score: 2?<|end|><|start|>assistant"
     "<|channel|>final<|message|>4<|return|>", 4),
    ("others beside it", "Relevance: 2\nCoherence: 4\nFluency: 3", 4),
    ("another's score", "Fluency score: 3\nScore for relevance: 2\nScore: 4", 4),
    ("a refusal in words", "I cannot rate this summary.", "missing"),
    ("thoughts without an end", "<think>It is a 4, I think. Score: 4", "cut_off"),
    ("a count of a label", "Coherence: 4 sentences jump.", "missing"),
    ("a share of a count", "4 out of the 5 facts are linked.", "missing"),
    ("a range behind a label", "Score: 3-4", "missing"),
    ("a choice", "Score: 3 or 4", "missing"),
    ("the scale", "Coherence: 1-5", "missing"),
    ("the scale as numbers", "1\n2\n3\n4\n5", "missing"),
    ("a per cent", "Score: 4%", "missing"),
    ("a condition", "I would give it a 5 if it ended well.", "missing"),
    ("another criterion's in json", '{"criterion": "fluency", "score": 3}', "missing"),
    ("a half", "Coherence: 3½", "missing"),
    ("between", "I think this is between 3 and 4.", "missing"),
    ("counting", "Let me count: 1, 2, 3, 4, 5 facts.", "missing"),
    ("zero", "0", "off_scale"),
    ("of ten", "Score: 8/10", "off_scale"),
    ("of ten, said before", "Score (1-10): 4", "off_scale"),
    ("points of ten", "Score: 4 points out of 10", "off_scale"),
    ("of ten in a key beside it", '{"score": 4, "max_score": 10}', "off_scale"),
    ("of ten in words beside it", '{"score": 4, "scale": "1-10"}', "off_scale"),
    ("of five in words beside it", '{"coherence": 4, "scale": "1 to 5"}', 4),
    ("of ten in a key inside", '{"coherence": {"score": 4, "out_of": 10}}', "off_scale"),
    ("of ten in a key", '{"Coherence (1-10)": 4}', "off_scale"),
    ("the best one first, in Japanese", "評価：5点満点中4点", "missing"),
    ("words", '{"score": "high"}', "not_a_number"),
]  # fmt: skip
