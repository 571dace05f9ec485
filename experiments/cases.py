"""What the tables of docs/results.md compare: a row each."""

from experiments.plan import BEAMS

GREEDY = "greedy"
# Label, table, setting, the tuned system, decoding.
CASES = (
    ("small model of the world, beams", "evidence/information", "the default", "both", BEAMS),
    ("the same, greedy", "evidence/information", "the default", "both", GREEDY),
    ("the same, beams", "evidence/information", "the default", "vote", BEAMS),
    ("SmolLM2, beams", "evidence/pretrained", "SmolLM2, 800 articles", "both", BEAMS),
    ("the same, greedy", "evidence/pretrained", "SmolLM2, 800 articles", "both", GREEDY),
    ("SmolLM2, beams", "evidence/pretrained", "SmolLM2, 800 articles", "vote", BEAMS),
    ("SmolLM2, 3,200 articles, beams", "evidence/pretrained", "SmolLM2, 3,200 articles", "both",
     BEAMS),
    ("the same, greedy", "evidence/pretrained", "SmolLM2, 3,200 articles", "both", GREEDY),
    ("the same, beams", "evidence/pretrained", "SmolLM2, 3,200 articles", "vote", BEAMS),
    ("the same, earlier wording, beams", "evidence/smollm2", "fine-tuned on 3200 articles",
     "tuned", BEAMS),
    ("Gemma 3, beams", "evidence/gemma", "Gemma 3", "tuned", BEAMS),
    ("SmolLM2 on MTS-Dialog, beams", "evidence/pretrained", "SmolLM2, MTS-Dialog", "a token",
     BEAMS),
    ("SmolLM2 on MTS-Dialog, beams", "evidence/pretrained", "SmolLM2, MTS-Dialog", "vote", BEAMS),
    ("the same, 300 documents, beams", "evidence/texts", "MTS-Dialog, the vote and chance",
     "tuned", BEAMS),
    ("SmolLM2 on SciTLDR, beams", "evidence/texts", "SciTLDR, vote and likelihood", "a token",
     BEAMS),
)  # fmt: skip
SHORT = "short beams"
# Where base was decoded as short as beams can: label, table, setting, tuned systems.
SHORTER = (
    ("small model of the world", "evidence/rounds", "the default", ("both", "vote", "random")),
    ("SmolLM2", "evidence/pretrained", "SmolLM2, 800 articles", ("both", "vote", "random")),
    ("SmolLM2, 3,200 articles", "evidence/pretrained", "SmolLM2, 3,200 articles",
     ("both", "random")),
    ("SmolLM2 on MTS-Dialog", "evidence/pretrained", "SmolLM2, MTS-Dialog",
     ("a token", "vote", "random")),
)  # fmt: skip
SMALL = ("evidence/rounds", "the default")
SMOLLM2 = ("evidence/pretrained", "SmolLM2, 800 articles")
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
PAIRS = "a beam against a hot sample"
THE_DEFAULT = ("evidence/information", "the default")
EARLIER = ("evidence/smollm2", "fine-tuned on 800 articles")
WHOLE = (SMOLLM2[0], "SmolLM2, 3,200 articles")
ORDERS = (
    ("small model: vote and likelihood", THE_DEFAULT, "both"),
    ("vote", THE_DEFAULT, "vote"),
    ("shuffled scores (the control)", THE_DEFAULT, "random"),
    ("references' order (BRIO)", THE_DEFAULT, "brio"),
    ("no ranking (MLE)", THE_DEFAULT, "mle"),
    ("a beam above a hot sample (MPO)", (THE_DEFAULT[0], PAIRS), "mpo"),
    ("nothing, guided", THE_DEFAULT, "guided"),
    ("SmolLM2: vote and likelihood", SMOLLM2, "both"),
    ("vote", SMOLLM2, "vote"),
    ("shuffled scores (the control)", SMOLLM2, "random"),
    ("a beam above a hot sample (MPO)", (SMOLLM2[0], f"SmolLM2, {PAIRS}"), "mpo"),
    ("nothing, guided", (*SMOLLM2, f"SmolLM2, {PAIRS}"), "guided"),
    ("SmolLM2, 3,200 articles: vote and likelihood", WHOLE, "both"),
    ("vote", WHOLE, "vote"),
    ("shuffled scores (the control)", WHOLE, "random"),
    ("references' order (BRIO)", WHOLE, "brio"),
    ("no ranking (MLE)", WHOLE, "mle"),
    ("nothing, guided", WHOLE, "guided"),
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
    ("SmolLM2", "evidence/pretrained", "SmolLM2, 800 articles",
     ("base", "guided", "elected by both", "vote", "both", "both again", "random")),
    ("SmolLM2 on MTS-Dialog", "evidence/pretrained", "SmolLM2, MTS-Dialog",
     ("base", "guided", "vote", "a token", "random")),
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
# What was tuned on few documents by one recipe: table, system, setting (None: every one). Runs that
# stand in two tables are counted once.
CHECKED = {
    "small model, 16 worlds and bases": (("study/world", "tuned", None),),
    "the same, the default and its vote": (
        ("evidence/information", "both", "the default"),
        ("evidence/information", "vote", "the default"),
    ),
    "SmolLM2, present wording": (
        ("evidence/pretrained", "both", "SmolLM2, 800 articles"),
        ("evidence/pretrained", "vote", "SmolLM2, 800 articles"),
        ("evidence/pretrained", "both", "SmolLM2, 3,200 articles"),
        ("evidence/pretrained", "vote", "SmolLM2, 3,200 articles"),
    ),
    "SmolLM2, 64 documents": (
        ("evidence/smollm2", "tuned", None),
        ("evidence/laptop", "64 documents", None),
        ("evidence/growth", "64 documents", "the preset"),
        ("evidence/texts", "64 documents", None),
    ),
    "SmolLM2, 300 documents": (("evidence/longer", "tuned", None),),
    "Gemma 3, 64 documents": (("evidence/gemma", "tuned", None),),
}
# Where the vote does not help: label, table, setting, system, decoding.
NOT = (
    ("a base of whole sentences, SmolLM2: vote and likelihood", "evidence/pretrained",
     "SmolLM2, 3,200 articles", "both", BEAMS),
    ("a base that makes up little", "study/world", "stock phrases 0, base's corpus 1 supported",
     "tuned", BEAMS),
    ("no stock phrases, SmolLM2", "evidence/smollm2", "no stock phrases", "tuned", BEAMS),
    ("64 documents, SmolLM2", "evidence/growth", "the preset, on a GPU", "64 documents", GREEDY),
    ("512 documents, SmolLM2", "evidence/growth", "the preset, on a GPU", "512 documents", GREEDY),
    ("4 candidates, SmolLM2", "evidence/growth", "the preset, on a GPU",
     "64 documents, 4 candidates", BEAMS),
    ("another model, Gemma 3", "evidence/gemma", "Gemma 3", "tuned", BEAMS),
)  # fmt: skip

# What may know more than the vote: label, system, decoding.
ARMS = (
    ("base, guided, nothing trained", "guided"),
    ("tuned on the vote (the paper's)", "vote"),
    ("tuned on base's likelihood", "likelihood"),
    ("tuned on vote and likelihood (the default)", "both"),
    ("the same with prior .1", "both, prior .1"),
    ("tuned on shuffled scores (the control)", "random"),
)
