"""Vector instructions inside numba kernels: a small writer of LLVM code, and bits of text.

numba's vectoriser leaves the loops of this room scalar, an eighth of the speed. The vectors here
are wider than most machines' registers; LLVM cuts them to what the machine has. Arrays are flat,
contiguous and addressed by element; byte order is little-endian.
"""

import functools
import zlib
from collections.abc import Callable
from pathlib import Path

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from brido.utils.compiling import cached

I1, I8, I32, I64 = (ir.IntType(bits) for bits in (1, 8, 32, 64))


# numba's cache of machine code looks at the file of a function alone, not at what that calls. So
# everything cached has an argument with this default, which is in the cache's key: after an edit
# anywhere in the room no old machine code runs.
ROOM = zlib.crc32(
    b"".join(file.read_bytes() for file in sorted(Path(__file__).parent.glob("*.py")))
)
entry = functools.partial(cached, nogil=True)

# Functions that create no arrays do without reference counts: counting costs an atomic instruction
# for every array of every call. Helpers of hot loops are inlined as well.
compiled = functools.partial(njit, _nrt=False)
inlined = functools.partial(njit, _nrt=False, forceinline=True)


class Emitter:
    """Writes vector code into the function that numba is building."""

    def __init__(self, context, builder, signature, arguments) -> None:
        self.builder = builder
        self.values = [
            context.make_array(kind)(context, builder, value).data
            if isinstance(kind, types.Array)
            else value
            for kind, value in zip(signature.args, arguments, strict=True)
        ]

    def constant(self, kind: ir.Type, number: int) -> ir.Constant:
        if isinstance(kind, ir.VectorType):
            return ir.Constant(kind, [number] * kind.count)
        return ir.Constant(kind, number)

    def _address(self, base: ir.Value, index: ir.Value, kind: ir.Type) -> ir.Value:
        return self.builder.bitcast(self.builder.gep(base, [index]), kind.as_pointer())

    def load(self, base: ir.Value, index: ir.Value, kind: ir.Type, align: int) -> ir.Value:
        return self.builder.load(self._address(base, index, kind), align=align)

    def store(self, value: ir.Value, base: ir.Value, index: ir.Value, align: int) -> None:
        self.builder.store(value, self._address(base, index, value.type), align=align)

    def plus(self, index: ir.Value, offset: int) -> ir.Value:
        return self.builder.add(index, ir.Constant(I64, offset)) if offset else index

    def call(self, name: str, value: ir.Value, *flags: ir.Constant) -> ir.Value:
        kind = value.type
        shape = f"v{kind.count}i{kind.element.width}"
        signature = ir.FunctionType(kind, [kind, *[flag.type for flag in flags]])
        function = cgutils.get_or_insert_function(
            self.builder.module, signature, f"llvm.{name}.{shape}"
        )
        return self.builder.call(function, [value, *flags])

    def broadcast(self, value: ir.Value, kind: ir.VectorType) -> ir.Value:
        single = self.builder.insert_element(
            ir.Constant(kind, ir.Undefined), value, ir.Constant(I32, 0)
        )
        mask = ir.Constant(ir.VectorType(I32, kind.count), [0] * kind.count)
        return self.builder.shuffle_vector(single, single, mask)

    def bits_to_highest(self, value: ir.Value) -> ir.Value:
        """All bits up to the highest set one; undefined where `value` is 0."""
        zeros = self.call("ctlz", value, ir.Constant(I1, 1))
        return self.builder.lshr(self.constant(value.type, -1), zeros)

    def loop(
        self,
        count: ir.Value,
        initial: list[ir.Value],
        body: Callable[[ir.Value, list[ir.Value]], list[ir.Value]],
    ) -> list[ir.Value]:
        """Run body(k, registers) for k < count; registers never leave the machine's registers."""
        builder = self.builder
        before = builder.block
        head, inside, after = (builder.append_basic_block(name) for name in ("head", "in", "out"))
        builder.branch(head)
        builder.position_at_end(head)
        k = builder.phi(I64)
        k.add_incoming(ir.Constant(I64, 0), before)
        registers = [builder.phi(value.type) for value in initial]
        for register, value in zip(registers, initial, strict=True):
            register.add_incoming(value, before)
        builder.cbranch(builder.icmp_signed("<", k, count), inside, after)
        builder.position_at_end(inside)
        results = body(k, registers)
        k.add_incoming(self.plus(k, 1), builder.block)
        for register, value in zip(registers, results, strict=True):
            register.add_incoming(value, builder.block)
        builder.branch(head)
        builder.position_at_end(after)
        return registers


@intrinsic
def load8(typing_context, array, offset):
    """The 8 bytes of a byte array from `offset` on as one number, the first byte lowest."""

    def generate(context, builder, signature, arguments):
        emit = Emitter(context, builder, signature, arguments)
        return emit.load(emit.values[0], emit.values[1], I64, 1)

    return types.uint64(array, types.int64), generate


@intrinsic
def word_bits(typing_context, array, offset):
    """64 bits, one for each byte from `offset` on: whether it is a letter or digit of ASCII."""

    def generate(context, builder, signature, arguments):
        emit = Emitter(context, builder, signature, arguments)
        kind = ir.VectorType(I8, 64)
        text = emit.load(emit.values[0], emit.values[1], kind, 1)

        def within(value, first, count):
            distance = builder.sub(value, emit.constant(kind, ord(first)))
            return builder.icmp_unsigned("<", distance, emit.constant(kind, count))

        lower = builder.or_(text, emit.constant(kind, 0x20))
        both = builder.or_(within(lower, "a", 26), within(text, "0", 10))
        return builder.bitcast(both, I64)

    return types.uint64(array, types.int64), generate


@intrinsic
def break_bits(typing_context, array, offset):
    """64 bits, one for each byte from `offset` on: whether it is a newline or 0xFF."""

    def generate(context, builder, signature, arguments):
        emit = Emitter(context, builder, signature, arguments)
        kind = ir.VectorType(I8, 64)
        text = emit.load(emit.values[0], emit.values[1], kind, 1)
        newline = builder.icmp_unsigned("==", text, emit.constant(kind, 0x0A))
        end = builder.icmp_unsigned("==", text, emit.constant(kind, 0xFF))
        return builder.bitcast(builder.or_(newline, end), I64)

    return types.uint64(array, types.int64), generate


@intrinsic
def zeros_below(typing_context, value):
    """The number of zeros below the lowest set bit of a uint64, 64 where none is set."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(I1, 0))

    return types.uint64(types.uint64), generate


@intrinsic
def bit_count(typing_context, value):
    """The number of set bits of a uint64."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate
