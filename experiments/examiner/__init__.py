"""An examiner for the embedded world: QAFactEval's models, small, trained where answers are known.

`python -m experiments.examiner` trains them in minutes on a CPU and measures how
well QAFactEval, run with them, agrees with the world's exact check. They know nothing else.
"""
