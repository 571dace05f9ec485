"""What the tables of docs/results.md compare: a row each."""

from experiments.plan import BEAMS

GREEDY = "greedy"
# Where rows are: table, setting.
THE_DEFAULT = ("evidence/information", "the default")
OTHER_KERNELS = ("evidence/information", "the default, other kernels")
SMALL = ("evidence/rounds", "the default")
SMOLLM2 = ("evidence/pretrained", "SmolLM2, 800 articles")
LEARNED_MORE = ("evidence/pretrained", "SmolLM2, 3,200 articles")
EARLIER = ("evidence/smollm2", "fine-tuned on 800 articles")
TALKS = ("evidence/pretrained", "SmolLM2, MTS-Dialog")
GEMMA = ("evidence/gemma", "Gemma 3")
HOT = ("evidence/information", "a beam against a hot sample")
SMOLLM2_HOT = ("evidence/pretrained", "SmolLM2, a beam against a hot sample")
GROWTH = ("evidence/growth", "the preset, on a GPU")

# Label, table and setting, the tuned system, decoding.
CASES = (
    ("small model of the world, beams", THE_DEFAULT, "both", BEAMS),
    ("the same, greedy", THE_DEFAULT, "both", GREEDY),
    ("the same, beams", THE_DEFAULT, "vote", BEAMS),
    ("SmolLM2, beams", SMOLLM2, "both", BEAMS),
    ("the same, greedy", SMOLLM2, "both", GREEDY),
    ("SmolLM2, beams", SMOLLM2, "vote", BEAMS),
    ("SmolLM2, 3,200 articles, beams", LEARNED_MORE, "both", BEAMS),
    ("the same, greedy", LEARNED_MORE, "both", GREEDY),
    ("the same, beams", LEARNED_MORE, "vote", BEAMS),
    ("the same, earlier wording, beams", ("evidence/smollm2", "fine-tuned on 3200 articles"),
     "tuned", BEAMS),
    ("Gemma 3, beams", GEMMA, "tuned", BEAMS),
    ("SmolLM2 on MTS-Dialog, beams", TALKS, "a token", BEAMS),
    ("SmolLM2 on MTS-Dialog, beams", TALKS, "vote", BEAMS),
    ("the same, 300 documents, beams", ("evidence/texts", "MTS-Dialog, the vote and chance"),
     "tuned", BEAMS),
    ("SmolLM2 on SciTLDR, beams", ("evidence/texts", "SciTLDR, vote and likelihood"), "a token",
     BEAMS),
)  # fmt: skip
SHORT = "short beams"
# Where base was decoded as short as beams can: label, table and setting, tuned systems.
SHORTER = (
    ("small model of the world", SMALL, ("both", "vote", "random")),
    ("SmolLM2", SMOLLM2, ("both", "vote", "random")),
    ("SmolLM2, 3,200 articles", LEARNED_MORE, ("both", "random")),
    ("SmolLM2 on MTS-Dialog", TALKS, ("a token", "vote", "random")),
)  # fmt: skip
# Label, table and setting, system, its control, and the system whose model it started from.
ROUNDS = (
    ("small model: base", SMALL, "base", "", ""),
    ("tuned on vote and likelihood", SMALL, "both", "random", "base"),
    ("the same, tuned again", SMALL, "both again", "random again", "both"),
    ("control: shuffled scores", SMALL, "random", "", "base"),
    ("control, tuned again", SMALL, "random again", "", "random"),
    ("SmolLM2: base", SMOLLM2, "base", "", ""),
    ("tuned on vote and likelihood", SMOLLM2, "both", "random", "base"),
    ("the same, tuned again", SMOLLM2, "both again", "", "both"),
)
# What may order candidates, or nothing: label, table and setting, system.
ORDERS = (
    ("small model: vote and likelihood", THE_DEFAULT, "both"),
    ("vote", THE_DEFAULT, "vote"),
    ("shuffled scores (the control)", THE_DEFAULT, "random"),
    ("references' order (BRIO)", THE_DEFAULT, "brio"),
    ("no ranking (MLE)", THE_DEFAULT, "mle"),
    ("a beam above a hot sample (MPO)", HOT, "mpo"),
    ("nothing, guided", THE_DEFAULT, "guided"),
    ("SmolLM2: vote and likelihood", SMOLLM2, "both"),
    ("vote", SMOLLM2, "vote"),
    ("shuffled scores (the control)", SMOLLM2, "random"),
    ("a beam above a hot sample (MPO)", SMOLLM2_HOT, "mpo"),
    ("nothing, guided", (*SMOLLM2, SMOLLM2_HOT[1]), "guided"),
    ("SmolLM2, 3,200 articles: vote and likelihood", LEARNED_MORE, "both"),
    ("vote", LEARNED_MORE, "vote"),
    ("shuffled scores (the control)", LEARNED_MORE, "random"),
    ("references' order (BRIO)", LEARNED_MORE, "brio"),
    ("no ranking (MLE)", LEARNED_MORE, "mle"),
    ("nothing, guided", LEARNED_MORE, "guided"),
    ("SmolLM2, earlier wording: vote", EARLIER, "tuned"),
    ("references' order (BRIO)", EARLIER, "brio"),
    ("no ranking (MLE)", EARLIER, "mle"),
)
# What is done once before an arm decodes, and for each document: steps of the costs.
BEAM = ("decode, 4 beams",)
VOTED = ("candidates", "train")
SCORED = ("candidates", "likelihood", "train")
STEPS = {
    "base": ((), BEAM),
    "guided": ((), ("guide, 4 beams",)),
    "elected by both": ((), ("candidates", "likelihood")),
    "vote": (VOTED, BEAM),
    "both": (SCORED, BEAM),
    "a token": (SCORED, BEAM),
    "random": (SCORED, BEAM),
    "both again": (SCORED * 2, BEAM),
}
PRICED = (
    ("SmolLM2", SMOLLM2,
     ("base", "guided", "elected by both", "vote", "both", "both again", "random")),
    ("SmolLM2 on MTS-Dialog", TALKS, ("base", "guided", "vote", "a token", "random")),
)  # fmt: skip
TUNED_ON = {
    "base": "nothing",
    "guided": "nothing, guided",
    "elected by both": "nothing, elected",
    "both": "vote and likelihood",
    "a token": "vote and likelihood a token",
    "random": "shuffled scores",
    "both again": "the same, a second round",
}
# What was tuned on few documents by one recipe: system, table, and setting if not every one. Runs
# that stand in two tables are counted once.
CHECKED = {
    "small model, 16 worlds and bases": (("tuned", "study/world"),),
    "the same, the default and its vote": (("both", *THE_DEFAULT), ("vote", *THE_DEFAULT)),
    "SmolLM2, present wording": (
        ("both", *SMOLLM2),
        ("vote", *SMOLLM2),
        ("both", *LEARNED_MORE),
        ("vote", *LEARNED_MORE),
    ),
    "SmolLM2, 64 documents": (
        ("tuned", "evidence/smollm2"),
        ("64 documents", "evidence/laptop"),
        ("64 documents", "evidence/growth", "the preset"),
        ("64 documents", "evidence/texts"),
    ),
    "SmolLM2, 300 documents": (("tuned", "evidence/longer"),),
    "Gemma 3, 64 documents": (("tuned", "evidence/gemma"),),
}
# Where the vote does not help: label, table and setting, system, decoding.
NOT = (
    ("a base of whole sentences, SmolLM2: vote and likelihood", LEARNED_MORE, "both", BEAMS),
    ("a base that makes up little", ("study/world", "stock phrases 0, base's corpus 1 supported"),
     "tuned", BEAMS),
    ("no stock phrases, SmolLM2", ("evidence/smollm2", "no stock phrases"), "tuned", BEAMS),
    ("64 documents, SmolLM2", GROWTH, "64 documents", GREEDY),
    ("512 documents, SmolLM2", GROWTH, "512 documents", GREEDY),
    ("4 candidates, SmolLM2", GROWTH, "64 documents, 4 candidates", BEAMS),
    ("another model, Gemma 3", GEMMA, "tuned", BEAMS),
)  # fmt: skip
# What may know more than the vote: label, system.
ARMS = (
    ("base, guided, nothing trained", "guided"),
    ("tuned on the vote (the paper's)", "vote"),
    ("tuned on base's likelihood", "likelihood"),
    ("tuned on vote and likelihood (the default)", "both"),
    ("the same with prior .1", "both, prior .1"),
    ("tuned on shuffled scores (the control)", "random"),
)
