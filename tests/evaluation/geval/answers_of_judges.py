"""Answers in the forms that judges write, each with the marks that a person reads in it.

`ONE` are answers to a question for coherence (1 to 5), `ALL` to one for all four criteria. The
forms are those of chat models of several houses, as their templates, G-Eval's and MT-Bench's
prompts and public threads about their parsing show; the words are ours. A reason in place of a mark
says why there is none. CUT are answers that ended at their token limit.
"""

# (what is special about it, the answer, the mark or why there is none)
ONE = [
    # A number, its surroundings.
    ("a digit", "4", 4),
    ("spaces", "  4 \n", 4),
    ("bold", "**4**", 4),
    ("out of the best", "4/5", 4),
    ("out of the best in words", "4 out of 5", 4),
    ("decimals", "3.5", 3.5),
    ("decimal comma", "3,5", 3.5),
    ("full stop", "4.", 4),
    ("fenced", "```\n4\n```", 4),
    ("bracketed", "[4]", 4),
    ("double brackets of MT-Bench", "The text hangs together.\n\nRating: [[4]]", 4),
    ("double brackets in a sentence", "So I settle on [[4]] here.", 4),
    ("a box of mathematics", "The result is\n\n$\\boxed{4}$", 4),
    ("a box with text", "\\boxed{\\text{4}}", 4),
    ("a tag", "<score>4</score>", 4),
    ("tags with reasons", "<reason>2 gaps</reason>\n<score>4</score>", 4),
    ("the criterion as a tag", "<coherence>4</coherence>", 4),
    ("the placeholder kept", '{"coherence": <4>}', 4),
    # A label.
    ("label", "Score: 4", 4),
    ("bold label", "**Score:** 4", 4),
    ("label with its scale", "Score (1-5): 4", 4),
    ("label with its scale in words", "Coherence (1 to 5): 4", 4),
    ("label with its scale bare", "Score 1-5: 4", 4),
    ("label below", "Score:\n\n4", 4),
    ("criterion and score", "Coherence score: 4", 4),
    ("score for the criterion", "Score for coherence: 4/5", 4),
    ("equals", "Score = 4", 4),
    ("arrow", "Coherence -> 4", 4),
    ("dash", "Coherence - 4", 4),
    ("no link", "Coherence 4", 4),
    ("in brackets", "Coherence (4/5)", 4),
    ("heading and brackets", "### Coherence (4/5)\nThe sentences follow each other.", 4),
    ("rating", "Rating: 4 out of 5", 4),
    ("final answer", "Final answer: 4", 4),
    ("stars", "Rating: 4 stars", 4),
    ("a sum", "Score: 5 - 1 = 4", 4),
    ("a falling dash and reason", "Score: 4 - 2 sentences repeat each other", 4),
    ("a reason in capitals", "Score: 4 The text is clear.", 4),
    ("another language", "Bewertung: 4", 4),
    ("full-width colon", "评分：4", 4),
    # Reasons first: lists, counts and ranges are no marks.
    ("numbered steps and a digit", "1. I read the article.\n2. I compared it.\n\n5", 5),
    ("steps behind the label", "Coherence:\n1. I read it.\n2. I compared it.\nScore: 3", 3),
    ("steps behind the label, one line", "Coherence: 1. I read it.\n2. I compared.\nScore: 3", 3),
    ("the scale explained", "On a scale of 1 to 5, where 5 is best, I give it a 4.", 4),
    ("the best explained", "Maximum score: 5\nScore: 4", 4),
    ("the scale listed", "1: poor\n3: fair\n5: good\n\nMy score: 4", 4),
    ("a bullet", "- 4", 4),
    ("bullets behind", "Score: 4\n- 5 sentences, 2 of them long", 4),
    ("reason in front", "The summary jumps once. Hence the score is 4.", 4),
    ("reason behind a dash", "4 - well built", 4),
    ("reason behind a colon", "4: well built, 1 jump", 4),
    ("reason behind a full stop", "4. The summary is well built.", 4),
    ("reason with because", "4 because 2 sentences repeat.", 4),
    ("what a better one would need", "4\n\nA score of 5 would need a better end.", 4),
    # Sentences.
    ("is", "The coherence of this summary is 4.", 4),
    ("I give", "I give it a 4.", 4),
    ("I would give", "I would give this summary a 4/5 for coherence.", 4),
    ("I rate", "I'd rate the coherence 4 out of 5.", 4),
    ("deserves", "It deserves a 3, not more.", 3),
    ("a score of", "This earns a score of 3.", 3),
    ("a solid", "A solid 4/5.", 4),
    ("second thoughts", "I first gave it a 2. On reading again I give it a 4.", 4),
    ("denied", "It does not deserve a 5. I give it a 3.", 3),
    ("assigned", "Based on this, I'd assign a coherence score of 4 to the summary.", 4),
    ("the final score is", "Thus, the final score is: 4", 4),
    ("said", "I'd say 4.", 4),
    ("control tokens left", "<|im_start|>assistant\n4<|im_end|>", 4),
    ("stars and a number", "**Final rating:** ★★★★☆ (4/5)", 4),
    ("html", "<b>Coherence</b>: <strong>4</strong>", 4),
    ("a bracketed label", "[Coherence]: 4", 4),
    ("confidence behind", "Score: 4\nConfidence: 5", 4),
    ("counts with labels", "Number of sentences: 3\nErrors: 1\nCoherence: 5", 5),
    # JSON.
    ("json of a score", '{"score": 4, "reason": "It has 2 gaps."}', 4),
    ("json with capitals", '{"Coherence Score": "4/5"}', 4),
    ("json with a prefix", '{"final_coherence_score": 4}', 4),
    ("json that names its criterion", '{"criterion": "coherence", "rating": 4}', 4),
    ("json with a line break in a text", '{"reason": "fine\nbut", "score": 4}', 4),
    ("json in a list", '[{"score": 4}]', 4),
    ("yaml", "coherence:\n  reason: 2 gaps\n  score: 4", 4),
    # Tables.
    ("table", "| Criterion | Score |\n|---|---|\n| Coherence | 4 |", 4),
    ("table with reasons", "| Criterion | Reason | Score |\n|---|---|---|\n"
     "| Coherence | 2 gaps | 4/5 |", 4),
    ("table of one column", "| Score |\n|:---:|\n| **4** |", 4),
    ("table lying", "| Coherence | Remark |\n|---|---|\n| 4 | fine |", 4),
    ("table with the best mark", "| Criterion | Max | Score |\n|---|---|---|\n"
     "| Coherence | 5 | 4 |", 4),
    ("table with the best mark behind", "| Criterion | Score | Max |\n|---|---|---|\n"
     "| Coherence | 4 | 5 |", 4),
    # Thoughts; tests/candidates/test_cleaning.py has their forms.
    ("thoughts", "<think>Consistency: 2? Score: 1?</think>\n\n4", 4),
    ("channels", "<|channel|>analysis<|message|>Score: 2?<|end|><|start|>assistant"
     "<|channel|>final<|message|>4<|return|>", 4),
    # Several criteria, one asked for.
    ("others beside it", "Relevance: 2\nCoherence: 4\nFluency: 3", 4),
    ("another's score", "Fluency score: 3\nScore for relevance: 2\nScore: 4", 4),
    # No mark.
    ("nothing", "", "empty"),
    ("white space", " \n", "empty"),
    ("a refusal in words", "I cannot rate this summary.", "missing"),
    ("thoughts without an end", "<think>It is a 4, I think. Score: 4", "cut_off"),
    ("a list of one", "1. I read the article.", "missing"),
    ("a count", "4 sentences are used.", "missing"),
    ("a count of a label", "Coherence: 4 sentences jump.", "missing"),
    ("a share of a count", "4 out of the 5 facts are linked.", "missing"),
    ("a range", "4-5", "missing"),
    ("a range behind a label", "Score: 3-4", "missing"),
    ("a range in words", "Score: 3 to 4", "missing"),
    ("a choice", "Score: 3 or 4", "missing"),
    ("the scale", "Coherence: 1-5", "missing"),
    ("the scale as numbers", "1\n2\n3\n4\n5", "missing"),
    ("a per cent", "Score: 4%", "missing"),
    ("denied alone", "It does not deserve a 5.", "missing"),
    ("a condition", "I would give it a 5 if it ended well.", "missing"),
    ("another criterion's", "Fluency: 3", "missing"),
    ("another criterion's in json", '{"criterion": "fluency", "score": 3}', "missing"),
    ("a count of a label of its own", "Number of sentences: 3", "missing"),
    ("a half", "Coherence: 3½", "missing"),
    ("a deduction", "I deduct 1 point for the jump.", "missing"),
    ("between", "I think this is between 3 and 4.", "missing"),
    ("the scale in words", "1 (worst) to 5 (best)", "missing"),
    ("steps", "Step 1: Read it.\nStep 2: Compare 4 facts.", "missing"),
    ("counting", "Let me count: 1, 2, 3, 4, 5 facts.", "missing"),
    ("a version", "GPT-4 would know.", "missing"),
    ("an ordinal", "The 4th sentence jumps.", "missing"),
    ("zero", "0", "off_scale"),
    ("ten times too much", "40", "off_scale"),
    ("below", "-4", "off_scale"),
    ("of ten", "Score: 8/10", "off_scale"),
    ("four of ten", "4/10", "off_scale"),
    ("of a hundred", "Score: 85", "off_scale"),
    ("of ten, said before", "Score (1-10): 4", "off_scale"),
    ("of ten in words, said before", "**Coherence (out of 10)**: 4", "off_scale"),
    ("points of ten", "Score: 4 points out of 10", "off_scale"),
    ("stars of ten", "Rating: 4 stars out of 10", "off_scale"),
    ("of ten in a sentence", "On a scale of 1 to 10, I would give it a 4.", "off_scale"),
    ("of five in a sentence", "On a scale from 1 to 5, I would give it a 4.", 4),
    ("of ten in a key beside it", '{"score": 4, "max_score": 10}', "off_scale"),
    ("of ten in words beside it", '{"score": 4, "scale": "1-10"}', "off_scale"),
    ("of ten as a text beside it", '{"score": 4, "out_of": "10"}', "off_scale"),
    ("of five in words beside it", '{"coherence": 4, "scale": "1 to 5"}', 4),
    ("of ten in a key inside", '{"coherence": {"score": 4, "out_of": 10}}', "off_scale"),
    ("of five in a key beside it", '{"score": 4, "reason": "good", "maximum": 5}', 4),
    ("of ten in a key", '{"Coherence (1-10)": 4}', "off_scale"),
    ("the best one first, in Japanese", "評価：5点満点中4点", "missing"),
    ("the best one first, in Korean", "점수: 5점 만점에 4점", "missing"),
    ("the best one first, in Chinese", "评分：5分制，4分", "missing"),
    ("a table of numbers without a heading", "| Coherence | 5 | 4 |", "missing"),
    ("words", '{"score": "high"}', "not_a_number"),
    ("null", '{"coherence": null}', "not_a_number"),
]  # fmt: skip

# (what is special about it, the answer, marks of coherence, consistency, fluency, relevance)
ALL = [
    ("numbered", "1. Coherence: 4\n2. Consistency: 5\n3. Fluency: 3\n4. Relevance: 2",
     (4, 5, 3, 2)),
    ("numbered and bold", "1. **Coherence (1-5):** 4\n2. **Consistency (1-5):** 5\n"
     "3. **Fluency (1-3):** 3\n4. **Relevance (1-5):** 2", (4, 5, 3, 2)),
    ("numbered with dashes", "1. Coherence - 4\n2. Consistency - 5\n3. Fluency - 3\n"
     "4. Relevance - 2", (4, 5, 3, 2)),
    ("in brackets", "Coherence (4/5): clear.\nConsistency (5/5): true.\nFluency (3/3): good.\n"
     "Relevance (2/5): 3 details too many.", (4, 5, 3, 2)),
    ("a list of objects", '[{"criterion": "Coherence", "score": 4}, {"criterion": "Consistency", '
     '"score": 5}, {"criterion": "Fluency", "score": 3}, {"criterion": "Relevance", "score": 2}]',
     (4, 5, 3, 2)),
    ("keys with score", '{"coherence_score": 4, "consistency_score": 5, "fluency_score": 3, '
     '"relevance_score": 2, "overall_score": 4}', (4, 5, 3, 2)),
    ("a table", "| Criterion | Score | Reason |\n|---|---|---|\n| Coherence | 4 | 2 jumps |\n"
     "| Consistency | 5 | true |\n| Fluency | 3 | good |\n| Relevance | 2 | too long |",
     (4, 5, 3, 2)),
    ("a table lying", "| Coherence | Consistency | Fluency | Relevance |\n|---|---|---|---|\n"
     "| 4 | 5 | 3 | 2 |", (4, 5, 3, 2)),
    ("sections", "### 1. Coherence\nThe 3 sentences follow.\n**Score: 4**\n\n### 2. Consistency\n"
     "All 7 facts stand there.\n**Score: 5**\n\n### 3. Fluency\n**Score: 3**\n\n### 4. Relevance\n"
     "4 of the 9 facts matter.\n**Score: 2**", (4, 5, 3, 2)),
    ("sections on a line", "Coherence: The sentences follow. Score: 4\nConsistency: It is true. "
     "Score: 5\nFluency: Good. Score: 3\nRelevance: Too long. Score: 2", (4, 5, 3, 2)),
    ("sentences", "The coherence is 4, the consistency is 5, the fluency is 3 and the relevance "
     "is 2.", (4, 5, 3, 2)),
    ("steps first", "1. I read it.\n2. I compared it.\n3. I marked it.\n\nCoherence: 4\n"
     "Consistency: 5\nFluency: 3\nRelevance: 2", (4, 5, 3, 2)),
    ("thoughts first", 'Hm, {"coherence": 1}?</think>{"coherence": 4, "consistency": 5, '
     '"fluency": 3, "relevance": 2}', (4, 5, 3, 2)),
    ("fluency of five", "Coherence: 4\nConsistency: 5\nFluency: 5\nRelevance: 2",
     (4, 5, "off_scale", 2)),
    ("fluency out of five", "Coherence (1-5): 4\nConsistency (1-5): 5\nFluency (1-5): 3\n"
     "Relevance (1-5): 2", (4, 5, "off_scale", 2)),
    ("all names, then all marks", "Coherence, consistency, fluency, relevance: 4, 5, 3, 2",
     ("missing",) * 4),
    ("a number alone", "4", ("missing",) * 4),
    ("one of them missing", "Coherence: 4\nConsistency: n/a\nFluency: 3\nRelevance: 2",
     (4, "missing", 3, 2)),
    ("one word for all", "Score: 4", ("missing",) * 4),
]  # fmt: skip

# (what is special about it, an answer to a question for coherence that was cut, mark or reason)
CUT = [
    ("a digit that may go on", "4", "cut_off"),
    ("a decimal that may go on", "Score: 4.", "cut_off"),
    ("a scale that may go on", "Score: 4/1", "cut_off"),
    ("a line that has ended", "2\n\n", 2),
    ("a line and a word", "2\n\nThe", 2),
    ("a label's line", "Score: 4\nBecause", 4),
    ("nothing yet", "1. I read the article and", "cut_off"),
    ("thoughts", "<think>Score: 4\n", "cut_off"),
    ("channels", "<|channel|>analysis<|message|>Score: 4\n", "cut_off"),
    ("nothing", "", "cut_off"),
    ("json that may go on", '{"reason": "fine", "score": 4', "cut_off"),
    ("json in its list", '{"score": 4, "reason": "fi', 4),
]
