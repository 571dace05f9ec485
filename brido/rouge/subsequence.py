"""Longest common subsequences of one prediction sentence with many target sentences at once.

The table t[i][j] (i target tokens, j prediction tokens) is kept as bits: bit i of column j says
whether t[i+1][j] > t[i][j], so a column is computed from the one before by an addition (Hyyro
2004, "Bit-parallel LCS-length computation revisited"). A lane of a vector is a target sentence.

ROUGE-Lsum needs one particular subsequence, the one that rouge_score's backtrack reads: at a match
go diagonally, else to the previous prediction token only if t[i][j-1] > t[i-1][j]. In bits: at
column j, take the highest set bit at or below the cursor of "match or step"; a match is marked and
the cursor goes below it, a step leaves the cursor on it. So every lane needs the same number of
operations and no branch. Bit 0 is a sentinel that is always a step: token i stands at bit i + 1.

Arrays: `positions` holds for each token type and lane the bits where the target has the type;
`columns` holds the complements of the columns; `tokens[first : first + count]` is the prediction.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from brido.rouge.vectors import I32, I64, Emitter

LANES = 64  # target sentences of at most SHORT_TOKENS tokens compared at once, 32 bits each
SHORT_TOKENS = 31
LONG_LANES = 8  # target sentences of any length compared at once, in limbs of 64 bits

_SHORT = ir.VectorType(I32, 16)
_GROUPS = range(LANES // 16)
_LONG = ir.VectorType(I64, LONG_LANES)


def _next_column(emit: Emitter, column: ir.Value, match: ir.Value) -> ir.Value:
    both = emit.builder.and_(column, match)
    return emit.builder.or_(emit.builder.add(column, both), emit.builder.xor(column, both))


@intrinsic
def mark_short(typing_context, positions, tokens, first, count, columns, marks):
    """Write marks[lane], the target positions on the path, for LANES short targets.

    uint32 arrays: positions [types, LANES], columns [count, LANES], marks [LANES].
    """

    def generate(context, builder, signature, arguments):
        emit = Emitter(context, builder, signature, arguments)
        positions, tokens, first, count, columns, marks = emit.values
        lanes = emit.constant(I64, LANES)

        def match_row(k):
            token = emit.load(tokens, builder.add(first, k), I32, 4)
            return builder.mul(builder.zext(token, I64), lanes)

        def forward(k, registers):
            row, column_row = match_row(k), builder.mul(k, lanes)
            results = []
            for group, column in zip(_GROUPS, registers, strict=True):
                match = emit.load(positions, emit.plus(row, 16 * group), _SHORT, 4)
                results.append(_next_column(emit, column, match))
                emit.store(results[-1], columns, emit.plus(column_row, 16 * group), 4)
            return results

        def backward(k, registers):
            at = builder.sub(emit.plus(count, -1), k)
            row, column_row = match_row(at), builder.mul(at, lanes)
            cursors, marked = [], []
            for group in _GROUPS:
                match = emit.load(positions, emit.plus(row, 16 * group), _SHORT, 4)
                column = emit.load(columns, emit.plus(column_row, 16 * group), _SHORT, 4)
                stop = builder.and_(builder.or_(match, builder.not_(column)), registers[group])
                reach = emit.bits_to_highest(stop)
                highest = builder.xor(reach, builder.lshr(reach, emit.constant(_SHORT, 1)))
                hit = builder.and_(highest, match)
                cursors.append(builder.xor(reach, hit))
                marked.append(builder.or_(registers[len(_GROUPS) + group], hit))
            return cursors + marked

        emit.loop(count, [emit.constant(_SHORT, -2)] * len(_GROUPS), forward)
        start = [emit.constant(_SHORT, -1)] * len(_GROUPS)
        start += [emit.constant(_SHORT, 0)] * len(_GROUPS)
        registers = emit.loop(count, start, backward)
        for group in _GROUPS:
            value = registers[len(_GROUPS) + group]
            emit.store(value, marks, emit.constant(I64, 16 * group), 4)
        return context.get_dummy_value()

    kinds = (positions, tokens, types.int64, types.int64, columns, marks)
    return types.void(*kinds), generate


@intrinsic
def merge_short(typing_context, marks, merged, merged_at):
    """Add marks[:LANES] to the sets merged[merged_at : merged_at + LANES]; uint32 arrays."""

    def generate(context, builder, signature, arguments):
        emit = Emitter(context, builder, signature, arguments)
        marks, merged, merged_at = emit.values
        for group in _GROUPS:
            at = emit.plus(merged_at, 16 * group)
            new = emit.load(marks, emit.constant(I64, 16 * group), _SHORT, 4)
            emit.store(builder.or_(new, emit.load(merged, at, _SHORT, 4)), merged, at, 4)
        return context.get_dummy_value()

    return types.void(marks, merged, types.int64), generate


@intrinsic
def fill_columns(typing_context, positions, tokens, first, count, limbs, columns):
    """Write columns[1:] from columns[0] for LONG_LANES targets of any length.

    uint64 arrays: positions [types, limbs, LONG_LANES], columns [count + 1, limbs, LONG_LANES];
    columns[0] is all ones but for the sentinel.
    """

    def generate(context, builder, signature, arguments):
        emit = Emitter(context, builder, signature, arguments)
        positions, tokens, first, count, limbs, columns = emit.values
        size = builder.mul(limbs, emit.constant(I64, LONG_LANES))

        def forward(k, _):
            token = builder.zext(emit.load(tokens, builder.add(first, k), I32, 4), I64)
            row, old_row = builder.mul(token, size), builder.mul(k, size)

            def limb(w, registers):
                (carry,) = registers
                at = builder.mul(w, emit.constant(I64, LONG_LANES))
                match = emit.load(positions, builder.add(row, at), _LONG, 8)
                old_at = builder.add(old_row, at)
                column = emit.load(columns, old_at, _LONG, 8)
                both = builder.and_(column, match)
                partial = builder.add(column, both)
                total = builder.add(partial, carry)
                over = builder.or_(
                    builder.icmp_unsigned("<", partial, column),
                    builder.icmp_unsigned("<", total, partial),
                )
                new = builder.or_(total, builder.xor(column, both))
                emit.store(new, columns, builder.add(old_at, size), 8)
                return [builder.zext(over, _LONG)]

            emit.loop(limbs, [emit.constant(_LONG, 0)], limb)
            return []

        emit.loop(count, [], forward)
        return context.get_dummy_value()

    kinds = (positions, tokens, types.int64, types.int64, types.int64, columns)
    return types.void(*kinds), generate


@intrinsic
def mark_long(typing_context, positions, tokens, first, count, limbs, columns, cursors, marks):
    """Write marks [limbs, LONG_LANES] from the columns of `fill_columns`, as `mark_short`.

    `cursors` [limbs, LONG_LANES] is all ones at the start and spoilt afterwards; `marks` is 0.
    """

    def generate(context, builder, signature, arguments):
        emit = Emitter(context, builder, signature, arguments)
        positions, tokens, first, count, limbs, columns, cursors, marks = emit.values
        size = builder.mul(limbs, emit.constant(I64, LONG_LANES))
        zero, all_ones = emit.constant(_LONG, 0), emit.constant(_LONG, -1)

        def backward(k, _):
            at = builder.sub(emit.plus(count, -1), k)
            token = builder.zext(emit.load(tokens, builder.add(first, at), I32, 4), I64)
            row, column_row = builder.mul(token, size), builder.mul(emit.plus(at, 1), size)

            def limb(from_top, registers):
                (found,) = registers  # all ones in the lanes whose stop lies in a higher limb
                w = builder.sub(emit.plus(limbs, -1), from_top)
                offset = builder.mul(w, emit.constant(I64, LONG_LANES))
                match = emit.load(positions, builder.add(row, offset), _LONG, 8)
                column = emit.load(columns, builder.add(column_row, offset), _LONG, 8)
                cursor = emit.load(cursors, offset, _LONG, 8)
                stop = builder.and_(builder.or_(match, builder.not_(column)), cursor)
                none = builder.icmp_unsigned("==", stop, zero)
                reach = builder.select(none, zero, emit.bits_to_highest(stop))
                reach = builder.or_(reach, found)
                highest = builder.xor(reach, builder.lshr(reach, emit.constant(_LONG, 1)))
                hit = builder.and_(builder.and_(highest, match), builder.not_(found))
                emit.store(builder.xor(reach, hit), cursors, offset, 8)
                emit.store(builder.or_(emit.load(marks, offset, _LONG, 8), hit), marks, offset, 8)
                return [builder.or_(found, builder.select(none, zero, all_ones))]

            emit.loop(limbs, [zero], limb)
            return []

        emit.loop(count, [], backward)
        return context.get_dummy_value()

    kinds = (positions, tokens, *[types.int64] * 3, columns, cursors, marks)
    return types.void(*kinds), generate
