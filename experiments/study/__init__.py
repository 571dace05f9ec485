"""The study of the embedded world: does a model tuned on the vote make up less?

`plan` says which chains there are, `chain` runs one through the pipeline's own stages, `records`
keeps what was measured, `table` and `picture` show it. `python -m experiments.study` is all of it.
"""
