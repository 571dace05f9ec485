"""How chat models spell their control tokens: a server reads them wherever they stand."""

import re

# A control token of a chat model that is known, as its template spells it. None has white space in
# it: `<|im_end|>` (and DeepSeek's wide bars, Gemma 4's `<turn|>`), `</s>`, `[/INST]`, `<<SYS>>`,
# EXAONE's `[|endofturn|]`, MiniMax's `]~b]`, what older tokenizers reserve.
_CONTROL = re.compile(
    r"""(?=
      <[|\uff5c][^\s<>]{1,60}> | <[^\s<>|\uff5c]{1,60}[|\uff5c]>
    | \[\|[^\s\[\]]{1,60}\|\]
    | <</?SYS>>
    | </?(?:s|bos|eos|pad|unk|sop|eop|think|seed:think|tool_call|tool_response|tools
        |(?:start|end)_of_(?:turn|image)|BOS_TOKEN|EOS_TOKEN|eo[ah]
        |(?:extra_id|reserved)_?\d{1,4}|unused\d{1,4})>
    | \[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_(?:CALLS|RESULTS|CONTENT)|THINK|ARGS|CALL_ID
        |MODEL_SETTINGS|gMASK|UNUSED_TOKEN_\d{1,4})\]
    | \]~!?b[\[\]] | \[e~\[
    )""",
    re.VERBOSE,
)


def break_control_tokens(text: str) -> tuple[str, int]:
    """A text for a server's chat template, and how many control tokens were broken up in it.

    A server tokenizes a message together with its template, so a document that spells
    `<|im_end|>` would end its own turn. A space behind the first character of each known spelling
    leaves none of them. A local model needs no such change (brido/models/plain_text.py).

    Example:
        >>> break_control_tokens("It ends here.<|im_end|>")
        ('It ends here.< |im_end|>', 1)
    """
    cuts = [match.start() + 1 for match in _CONTROL.finditer(text)]
    parts = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    return " ".join(parts), len(cuts)
