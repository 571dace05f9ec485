"""Counting set bits of many texts at once: intersections of sets and what a union holds.

Matrices of one number a text have a whole number of vectors as columns: `padded(texts)`.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from brido.rouge.vectors import I64, Emitter, compiled

TILE_ROWS, TILE_LANES = 4, 8  # texts by texts compared by one `overlap_tile`

_VECTOR = ir.VectorType(I64, TILE_LANES)


@compiled()
def padded(texts):
    """The number of columns that hold `texts` texts."""
    return (texts + TILE_LANES - 1) // TILE_LANES * TILE_LANES


@intrinsic
def overlap_tile(typing_context, bits, words, stride, row, lane, overlap):
    """Write the sizes of the intersections of TILE_ROWS by TILE_LANES sets into `overlap`.

    bits uint64 [words, stride]: set s has bit e % 64 of bits[e / 64, s] set for its element e;
    overlap int64 [stride, stride] gets rows row.. and columns lane.. .
    """

    def generate(context, builder, signature, arguments):
        emit = Emitter(context, builder, signature, arguments)
        bits, words, stride, row, lane, overlap = emit.values

        def count_word(w, registers):
            start = builder.mul(w, stride)
            columns = emit.load(bits, builder.add(start, lane), _VECTOR, 8)
            results = []
            for offset, register in enumerate(registers):
                at = emit.plus(builder.add(start, row), offset)
                common = builder.and_(columns, emit.broadcast(emit.load(bits, at, I64, 8), _VECTOR))
                results.append(builder.add(register, emit.call("ctpop", common)))
            return results

        sums = emit.loop(words, [emit.constant(_VECTOR, 0)] * TILE_ROWS, count_word)
        for offset, total in enumerate(sums):
            at = builder.add(builder.mul(emit.plus(row, offset), stride), lane)
            emit.store(total, overlap, at, 8)
        return context.get_dummy_value()

    kinds = (bits, *[types.int64] * 4, overlap)
    return types.void(*kinds), generate


@intrinsic
def add_marked(typing_context, unions, first, count, stride, sums):
    """Add to sums [stride] the set bits of each column of unions[first : first + count].

    unions uint64 [units, stride], sums int64.
    """

    def generate(context, builder, signature, arguments):
        emit = Emitter(context, builder, signature, arguments)
        unions, first, count, stride, sums = emit.values

        def lanes(block, _):
            lane = builder.mul(block, emit.constant(I64, TILE_LANES))

            def unit(k, registers):
                row = builder.mul(builder.add(first, k), stride)
                bits = emit.load(unions, builder.add(row, lane), _VECTOR, 8)
                return [builder.add(registers[0], emit.call("ctpop", bits))]

            (total,) = emit.loop(count, [emit.load(sums, lane, _VECTOR, 8)], unit)
            emit.store(total, sums, lane, 8)
            return []

        emit.loop(builder.sdiv(stride, emit.constant(I64, TILE_LANES)), [], lanes)
        return context.get_dummy_value()

    return types.void(unions, *[types.int64] * 3, sums), generate


@intrinsic
def subtract_surplus(typing_context, unions, units, masks, first, count, counts, row, stride, sums):
    """Take from sums [stride] by how much a type is marked more often than counts[row] allows.

    The type's positions are the bits masks[k] of unit units[k], k = first to first + count - 1;
    unions uint64 [units, stride], units int64, masks uint64, counts int64 [types, stride].
    """

    def generate(context, builder, signature, arguments):
        emit = Emitter(context, builder, signature, arguments)
        unions, units, masks, first, count, counts, row, stride, sums = emit.values
        zero = emit.constant(_VECTOR, 0)

        def lanes(block, _):
            lane = builder.mul(block, emit.constant(I64, TILE_LANES))

            def piece(k, registers):
                at = builder.add(first, k)
                start = builder.mul(emit.load(units, at, I64, 8), stride)
                bits = emit.load(unions, builder.add(start, lane), _VECTOR, 8)
                mask = emit.broadcast(emit.load(masks, at, I64, 8), _VECTOR)
                marked = emit.call("ctpop", builder.and_(bits, mask))
                return [builder.add(registers[0], marked)]

            (marked,) = emit.loop(count, [zero], piece)
            place = builder.add(builder.mul(row, stride), lane)
            surplus = builder.sub(marked, emit.load(counts, place, _VECTOR, 8))
            surplus = builder.select(builder.icmp_signed(">", surplus, zero), surplus, zero)
            emit.store(builder.sub(emit.load(sums, lane, _VECTOR, 8), surplus), sums, lane, 8)
            return []

        emit.loop(builder.sdiv(stride, emit.constant(I64, TILE_LANES)), [], lanes)
        return context.get_dummy_value()

    kinds = (unions, units, masks, types.int64, types.int64, counts, types.int64, types.int64, sums)
    return types.void(*kinds), generate
