"""How chat models spell their control tokens: a server reads them wherever they stand."""

import re

# A control token of a chat model that is known, as its template spells it. None has white space in
# it: `<|im_end|>` (and DeepSeek's wide bars, Gemma 4's `<turn|>`), `</s>`, `[/INST]`, `<<SYS>>`,
# EXAONE's `[|endofturn|]`, MiniMax's `]~b]`, what older tokenizers reserve.
_SPELLING = r"""
      <[|\uff5c][^\s<>]{1,60}> | <[^\s<>|\uff5c]{1,60}[|\uff5c]>
    | \[\|[^\s\[\]]{1,60}\|\]
    | <</?SYS>>
    | </?(?:s|bos|eos|pad|unk|sop|eop|think|seed:think|tool_call|tool_response|tools
        |(?:start|end)_of_(?:turn|image)|BOS_TOKEN|EOS_TOKEN|eo[ah]
        |(?:extra_id|reserved)_?\d{1,4}|unused\d{1,4})>
    | \[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_(?:CALLS|RESULTS|CONTENT)|THINK|ARGS|CALL_ID
        |MODEL_SETTINGS|gMASK|UNUSED_TOKEN_\d{1,4})\]
    | \]~!?b[\[\]] | \[e~\[
"""
_CONTROL = re.compile(rf"(?={_SPELLING})", re.VERBOSE)
# PEGASUS writes <n> for the end of a line; <|im_start|> is followed by who speaks.
_AT_ENDS = rf"(?!</?(?:seed:)?think>|\[/?THINK\])(?:{_SPELLING}|<n>)"
_FIRST = re.compile(rf"\s*{_AT_ENDS}(?:assistant\b)?", re.VERBOSE)
_LAST = re.compile(rf"{_AT_ENDS}\Z", re.VERBOSE)
# Characters of the longest one, and how many are taken off at most: more are not worth the time.
_LONGEST, _MOST = 80, 32


def break_control_tokens(text: str) -> tuple[str, int]:
    """A text for a server's chat template, and how many control tokens were broken up in it.

    A server tokenizes a message together with its template, so a document that spells
    `<|im_end|>` would end its own turn. A space behind the first character of each known spelling
    leaves none of them. A local model needs no such change (brido/models/prompt.py).

    Example:
        >>> break_control_tokens("It ends here.<|im_end|>")
        ('It ends here.< |im_end|>', 1)
    """
    cuts = [match.start() + 1 for match in _CONTROL.finditer(text)]
    parts = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    return " ".join(parts), len(cuts)


def without_end_tokens(text: str) -> str:
    """A text without the control tokens that stand at its beginning and at its end.

    A server that does not know a model's tokens leaves them in its answers. Marks of thoughts
    stay: `brido.text.thoughts` takes thoughts off.

    Example:
        >>> without_end_tokens("<|im_start|>assistant\\nA cat sat.</s></s>")
        '\\nA cat sat.'
    """
    for _ in range(_MOST):
        shorter = text.rstrip()
        last = _LAST.search(shorter, max(0, len(shorter) - _LONGEST))
        text = text if last is None else text[: last.start()]
        first = _FIRST.match(text)
        text = text if first is None else text[first.end() :]
        if last is None and first is None:
            break
    return text
