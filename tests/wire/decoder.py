#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads self-describing messages of version 1, as docs/wire-format.md says them; numbers of sections refer to that page.

decoder.py [OPTIONS] FILE...         prints of each file one line: its dimension, then coordinate:value, exactly
decoder.py [OPTIONS] --shape FILE... prints of each file its dimension, then its stages: kind(parameters), of a user's kind
                                     its parameters in hex, of parts [length shape, length shape, ...]
decoder.py [OPTIONS] --check LIST    LIST has a line for each message: a name, its bytes in hex (- for none), then what they
                                     mean in the first form, or "refused"; # begins a comment

OPTIONS are --dimension N (2^40) and --work N (2^30): larger dimensions, and messages that take more steps (section 8), are
refused, and so is what makes this reader list more than 2^24 places and numbers in all; and --users PYTHON, a file that
sets USERS to {kind: decoder, ...} for users' kinds. A decoder is called with (bits, T, n, parameters), where bits and
parameters are Bits, and returns the n values, each of which counts as one step; it may use all names of this file. Other
users' kinds are refused. The status is 1 where a file is refused or a line of LIST is wrong.
"""

import math
import struct
import sys
from collections import namedtuple
from fractions import Fraction

LIMIT = 2**40  # of dimension, unit, bucket, ...
MOST_WORK = 2**30  # steps, unless told otherwise
MOST_LISTED = 2**24  # this reader's own limit on memory: the places and numbers that it lists, all stages together


class Refused(Exception):
    pass


def require(condition, why):
    if not condition:
        raise Refused(why)


# ---- 1. Words


def width(n):
    return max(n - 1, 0).bit_length()


def ceil_div(a, b):
    return -(-a // b)


class Bits:
    """A stream, read from bit `at` up to bit `end`, and what reading it may still cost."""

    def __init__(self, data, work=0, users={}):
        self.data, self.at, self.end = data, 0, 8 * len(data)
        self.work, self.listed = work, MOST_LISTED
        self.users = users

    def spend(self, steps):
        """To be called before the steps are taken."""
        self.work -= steps
        require(self.work >= 0, "more work than the limit")

    def list(self, count):
        """To be called before so many places or numbers are listed."""
        self.listed -= count
        require(self.listed >= 0, "more places and numbers than this reader lists")

    def require(self, count, w):
        """That there are so many fields of w bits, before anything of their number is made."""
        require(count * w <= self.end - self.at, "it ends too early")

    def field(self, w):
        require(w <= self.end - self.at, "it ends too early")
        first, skip = divmod(self.at, 8)
        self.at += w
        return int.from_bytes(self.data[first : ceil_div(self.at, 8)], "little") >> skip & (1 << w) - 1

    def whole(self, least, most):
        n = 0
        for place in range(9):
            group = self.field(8)
            n |= (group & 127) << 7 * place
            if group < 128:
                require(group or not place, "a whole number is not in its shortest form")
                require(least <= n <= most, "a whole number is outside its limits")
                return n
        raise Refused("a whole number has more than 9 groups")

    def fields(self, count, w):
        self.require(count, w)
        return [self.field(w) for _ in range(count)]

    def finish(self):
        require(self.end - self.at < 8, "there is more than announced")
        require(self.field(self.end - self.at) == 0, "padding is not 0")


class Floats:
    """A type T: its encoding in a field, and rounding to it."""

    def __init__(self, exponent_bits, mantissa_bits, code):
        self.exponent_bits, self.mantissa_bits, self.code = exponent_bits, mantissa_bits, code
        self.bits = 1 + exponent_bits + mantissa_bits
        self.bias = 2 ** (exponent_bits - 1) - 1
        self.largest = math.ldexp(2 ** (mantissa_bits + 1) - 1, self.bias - mantissa_bits)

    def of_bits(self, n):
        return struct.unpack(self.code, n.to_bytes(self.bits // 8, "little"))[0]

    def number(self, bits):
        x = self.of_bits(bits.field(self.bits))
        require(math.isfinite(x), "a number is not finite")
        return x

    def magnitude(self, bits):
        x = self.number(bits)
        require(math.copysign(1, x) > 0, "a magnitude has a sign")
        return x

    def numbers(self, bits, count):
        bits.require(count, self.bits)
        return [self.number(bits) for _ in range(count)]

    def magnitudes(self, bits, count):
        bits.require(count, self.bits)
        return [self.magnitude(bits) for _ in range(count)]

    def rounded(self, exact):
        """A Fraction to the nearest T, ties to even; infinity where it is too large."""
        if not exact:
            return 0.0
        exponent = abs(exact.numerator).bit_length() - exact.denominator.bit_length()  # or one too many
        if abs(exact) < Fraction(2) ** exponent:
            exponent -= 1
        unit = max(exponent, 1 - self.bias) - self.mantissa_bits
        steps = round(exact / Fraction(2) ** unit)  # ties to even
        if abs(steps) * Fraction(2) ** unit > Fraction(self.largest):
            return math.copysign(math.inf, steps)
        return math.ldexp(steps, unit)

    def times(self, a, b):
        return self.rounded(Fraction(a) * Fraction(b))


BINARY32 = Floats(8, 23, "<f")
BINARY64 = Floats(11, 52, "<d")


# ---- 2. The self-describing form


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def opened(data, largest_dimension=LIMIT, work=MOST_WORK, users={}):
    """The dimension, the type T, the shape, and the bits of the bare form and after it."""
    require(data[:4] == b"lacn", "another magic")
    require(data[4:5] == b"\1", "another version")
    require(data[5:6] and data[5] < 4, "unknown flags")
    if data[5] & 1:
        data, checksum = data[:-4], data[-4:]
        require(len(data) >= 6 and crc32c(data) == int.from_bytes(checksum, "little"), "a wrong checksum")
    T = BINARY64 if data[5] & 2 else BINARY32
    bits = Bits(data, work, users)
    bits.at = 48
    dimension = bits.whole(0, LIMIT)
    require(dimension <= largest_dimension, "a dimension above this reader's limit")
    length = bits.whole(0, 2**60)
    end = bits.at + length
    require(bits.end == 8 * ceil_div(end, 8), "another length than announced")
    bits.end = end
    return dimension, T, read_shape(bits, T), bits


def decode(data, **options):
    """The dimension, and the terms as a list of (coordinate, value)."""
    dimension, T, shape, bits = opened(data, **options)
    terms = read_terms(bits, T, shape, dimension)
    require(bits.at == bits.end, "another length than announced")
    bits.end = 8 * len(bits.data)
    bits.finish()
    return dimension, terms


# ---- 3. The shape

Stage = namedtuple("Stage", "kind parameters")
Kind = namedtuple("Kind", "parameters wraps read")  # how to read each parameter; if a stage follows; how to read the terms


def whole(least, most):
    return lambda bits, T: bits.whole(least, most)


def recipe(bits, T):
    how = bits.field(8)
    require(1 <= how <= 3, "an unknown how")
    if how == 1:
        amount = bits.whole(0, LIMIT)
    else:
        amount = BINARY64.magnitude(bits)
        require(amount <= 1, "a probability above 1")
    return how, amount, bits.field(64)


def factor(bits, T):
    x = T.magnitude(bits)
    require(x <= 1, "a factor above 1")
    return x


def user_parameters(bits, T):
    return bytes(bits.fields(bits.whole(0, 4096), 8))


def kind_of(number):
    require(number in STAGES or number >= FIRST_USER_KIND, "an unknown kind")
    return STAGES.get(number, USER)


def read_shape(bits, T, depth=0, total=None):
    """A list of stages; the parameters of parts are (length, shape) of each, that of a user's kind its bytes."""
    shape, total = [], total or [0]
    while not shape or kind_of(shape[-1].kind).wraps:
        require(depth + len(shape) < 32, "more than 32 stages in each other")
        total[0] += 1
        require(total[0] <= 65536, "more than 65536 stages")
        kind = bits.field(8)
        parameters = [parameter(bits, T) for parameter in kind_of(kind).parameters]
        if kind == PARTS:
            parameters = [
                (bits.whole(0, LIMIT), read_shape(bits, T, depth + len(shape) + 1, total)) for _ in range(parameters[0])
            ]
        shape.append(Stage(kind, parameters))
    return shape


# ---- 4. The bare form: each function reads the terms that shape[0] says of n numbers


def read_terms(bits, T, shape, n):
    return kind_of(shape[0].kind).read(bits, T, shape, n)


def says(values, least=1, steps_each=lambda *parameters: 1):
    """Makes of a function from (bits, T, n, parameters) to all n values a reader of terms. Each value takes at least so
    many bits, and so many steps."""

    def read(bits, T, shape, n):
        bits.require(n, least)
        bits.list(n)
        bits.spend(n * steps_each(*shape[0].parameters))
        return list(enumerate(values(bits, T, n, *shape[0].parameters)))

    return read


def read_inside(bits, T, shape, n):
    """The terms of the stage inside shape[0], which visits each."""
    terms = read_terms(bits, T, shape[1:], n)
    bits.list(len(terms))
    bits.spend(len(terms))
    return terms


def read_codes(bits, n, levels):
    if levels > 1:
        codes = bits.fields(n, width(2 * levels + 1))
        require(all(code <= 2 * levels for code in codes), "a code outside its grid")
        return [code - levels for code in codes]
    codes = []
    while len(codes) < n:
        r = min(5, n - len(codes))
        group = bits.field(width(3**r))
        require(group < 3**r, "a code outside its grid")
        codes += [group // 3**i % 3 - 1 for i in range(r)]
    return codes


def plain(bits, T, n):
    return T.numbers(bits, n)


def quantized(bits, T, n, levels, bucket):
    steps = T.magnitudes(bits, ceil_div(n, bucket))
    require(all(math.isfinite(T.times(s, levels)) for s in steps), "a grid that is not finite")
    return [T.times(code, steps[j // bucket]) for j, code in enumerate(read_codes(bits, n, levels))]


def dithered(bits, T, n, levels, bucket):
    norms = T.magnitudes(bits, ceil_div(n, bucket))

    def value(code, g):
        sign = (code > 0) - (code < 0)
        return T.rounded(sign * Fraction(g) * Fraction(2) ** (abs(code) - levels))

    return [value(code, norms[j // bucket]) for j, code in enumerate(read_codes(bits, n, levels))]


def powers(bits, T, n):
    values = []
    for field in bits.fields(n, T.exponent_bits + 1):
        sign, exponent = divmod(field, 2**T.exponent_bits)
        require(exponent != 2**T.exponent_bits - 1, "a number is not finite")
        values.append(T.of_bits(field << T.mantissa_bits) if exponent else 0.0)
    return values


def signs(bits, T, n, bucket):
    scales = T.magnitudes(bits, ceil_div(n, bucket)) if bucket else []
    sizes = [scales[j // bucket] if bucket else 1.0 for j in range(n)]
    return [-size if bit else size for size, bit in zip(sizes, bits.fields(n, 1))]


def means(bits, T, n, bucket):
    pairs = [(T.magnitude(bits), T.magnitude(bits)) for _ in range(ceil_div(n, bucket))]
    return [pairs[j // bucket][1] if not bit else -pairs[j // bucket][0] for j, bit in enumerate(bits.fields(n, 1))]


def short(e, m, bias, finite):
    def value(code):
        f, x, sign = code % 2**m, code >> m & 2**e - 1, code >> m + e
        require(finite(x, f), "a number is not finite")
        magnitude = math.ldexp(2**m + f, x - bias - m) if x else math.ldexp(f, 1 - bias - m)
        return -magnitude if sign else magnitude

    return says(lambda bits, T, n: [value(code) for code in bits.fields(n, 1 + e + m)])


def stepped(bits, T, n, w, bucket):
    def value(grid, code):
        return T.rounded(grid[0] + code * grid[1])

    grids = []
    for _ in range(ceil_div(n, bucket)):
        grids.append((Fraction(T.number(bits)), Fraction(T.magnitude(bits))))
        require(math.isfinite(value(grids[-1], 2**w - 1)), "a grid that is not finite")
    return [value(grids[j // bucket], code) for j, code in enumerate(bits.fields(n, w))]


CENTROIDS = {
    1: [0.7978845608028654],
    2: [0.4527800398860679, 1.5104176087114887],
    3: [0.24509416307340598, 0.7560052489539643, 1.3439092613750225, 2.151945669890335],
    4: [
        0.1283950298511473, 0.38804829949029135, 0.6567591185324653, 0.9423404564869625,
        1.256231197347178, 1.6180463860218819, 2.0690172265313844, 2.732589570995161,
    ],
}


def binned(bits, T, n, w, bucket):
    def scaled_table():
        scale, above = float(T.magnitude(bits)), CENTROIDS[w - 8]
        products = [scale * c for c in [-c for c in reversed(above)] + above]  # as binary64
        table = [T.rounded(Fraction(p)) if math.isfinite(p) else p for p in products]
        require(math.isfinite(table[-1]), "a scale whose numbers are not finite")
        return table

    tables = [scaled_table() if w > 8 else T.numbers(bits, 2**w) for _ in range(ceil_div(n, bucket))]
    return [tables[j // bucket][code] for j, code in enumerate(bits.fields(n, w - 8 if w > 8 else w))]


E4M3, E5M2, E2M1 = (4, 3, lambda x, f: (x, f) != (15, 7)), (5, 2, lambda x, f: x != 31), (2, 1, None)
POWER, NORMAL, FULL = range(3)
BLOCK_FORMATS = [
    (E4M3, POWER), (E5M2, POWER), ((3, 2, None), POWER), ((2, 3, None), POWER), (E2M1, POWER),
    (E2M1, NORMAL), (E4M3, FULL), (E5M2, FULL), ((1, 6, None), FULL), ((1, 2, None), FULL),
]


def blocks(bits, T, n, number, block):
    (e, m, finite), scale = BLOCK_FORMATS[number]
    bias = 2 ** (e - 1) - 1

    def element(code):
        f, x, sign = code % 2**m, code >> m & 2**e - 1, code >> m + e
        require(finite is None or finite(x, f), "a number is not finite")
        size = Fraction(2**m + f) * Fraction(2) ** (x - bias - m) if x else Fraction(f) * Fraction(2) ** (1 - bias - m)
        return -size if sign else size

    top = max(element(c) for c in range(2 ** (e + m)) if finite is None or finite(c >> m, c % 2**m))
    shared = T.magnitude(bits) if scale == NORMAL else 1.0
    if scale == FULL:
        scales = T.magnitudes(bits, ceil_div(n, block))
    else:
        codes = bits.fields(ceil_div(n, block), 8)
        require(all(8 <= c < 127 if scale == NORMAL else c < 255 for c in codes), "no scale")
        exact = [math.ldexp(8 + c % 8, (c >> 3) - 10) if scale == NORMAL else math.ldexp(1, c - 127) for c in codes]
        scales = [T.times(shared, s) for s in exact]
    for s in scales:
        require(math.isfinite(s) and math.isfinite(T.rounded(Fraction(s) * top)), "a scale that is too large")
    return [T.rounded(element(code) * Fraction(scales[j // block])) for j, code in enumerate(bits.fields(n, 1 + e + m))]


def low_rank(bits, T, n, rows, rank):
    cols = n // rows
    require(cols * rows == n, "the columns are not whole")
    require(1 <= rank <= min(rows, cols) if n else rank == 0, "the rank is outside its limits")
    left = T.numbers(bits, rank * rows)
    right = T.numbers(bits, rank * cols)
    bound = BINARY64.times(max(map(abs, left), default=0), max(map(abs, right), default=0))
    require(math.isfinite(bound) and BINARY64.times(bound, 2 * rank) <= T.largest, "a product that is not finite")

    def value(i, j):
        total = 0.0
        for c in range(rank):
            total = BINARY64.rounded(Fraction(total) + Fraction(left[c * rows + i]) * Fraction(right[c * cols + j]))
        return T.rounded(Fraction(total))

    return [value(i, j) for i in range(rows) for j in range(cols)]


def scaled(bits, T, shape, n):
    by = shape[0].parameters[0]
    return [(j, T.times(by, x)) for j, x in read_inside(bits, T, shape, n)]


def parts(bits, T, shape, n):
    terms, begin = [], 0
    for length, inside in shape[0].parameters:
        require(length <= n - begin, "parts of more numbers than there are")
        part = read_terms(bits, T, inside, length)
        bits.list(len(part))
        bits.spend(len(part))
        terms += [(begin + j, x) for j, x in part]
        begin += length
    require(begin == n, "parts of fewer numbers than there are")
    return terms


def levelled(bits, T, shape, n):
    levels = shape[0].parameters[0]
    require(levels == 0 or bits.field(width(levels)) < levels, "a level above the highest")
    return read_terms(bits, T, shape[1:], n)


def users(bits, T, shape, n):
    kind, (parameters,) = shape[0]
    require(kind in bits.users, f"user kind {kind}, for which no decoder was given")
    require(n < 2**32, "more than 2^32 - 1 numbers of a user's kind")

    def values(bits, T, n, parameters):
        source = Bits(parameters)
        all_values = bits.users[kind](bits, T, n, source)
        source.finish()
        require(all(map(math.isfinite, all_values)), "a number is not finite")
        return all_values

    return says(values, 0)(bits, T, shape, n)


# ---- 5. Supports


def supported(places_of):
    """Makes of a function from (bits, P, parameters after the unit) to the places of a support a reader of terms."""

    def read(bits, T, shape, n):
        unit, *parameters = shape[0].parameters
        P = ceil_div(n, unit)
        support = places_of(bits, P, *parameters)
        inside = len(support) * unit
        if support and support[-1] == P - 1:
            inside -= P * unit - n
        terms = read_inside(bits, T, shape, inside)
        return [(support[j // unit] * unit + j % unit, x) for j, x in terms]

    return read


def listed(bits, P):
    k = bits.field(width(P + 1))
    require(k <= P, "a support of more places than there are")
    return positions(bits, k, P)


def fixed_count(bits, P, count):
    require(count <= P, "a support of more places than there are")
    return positions(bits, count, P)


def from_seed(bits, P, recipe):
    require(P < 2**32, "too many places to draw from")
    bits.list(P)
    bits.spend(P)
    how, amount, key = recipe
    return RECIPES[how](P, amount, key)


# ---- 6. Positions


def rice(bits, r, most):
    ones = 0
    while bits.field(1):
        ones += 1
        require(ones << r <= most, "a place that there is not")
    return ones << r | bits.field(r)


def rice_parameter(bits):
    r = bits.field(6)
    require(r <= 40, "a Rice code above 40")
    return r


def raw(bits, k, P):
    return bits.fields(k, width(P))


def bitmap(bits, k, P):
    bits.list(P)
    places = [i for i, bit in enumerate(bits.fields(P, 1)) if bit]
    require(len(places) == k, "a bitmap of another number of places")
    return places


def after(gaps):
    """The places with these gaps before them."""
    places, last = [], -1
    for gap in gaps:
        last += gap + 1
        places.append(last)
    return places


def rice_gaps(bits, k, P):
    r = rice_parameter(bits)
    return after(rice(bits, r, P) for _ in range(k))


def packed(bits, k, P):
    gaps = []
    while len(gaps) < k:
        w = bits.field(6)
        require(w <= width(P), "a gap wider than the places")
        gaps += bits.fields(min(128, k - len(gaps)), w)
    return after(gaps)


def runs(bits, k, P):
    r, s = rice_parameter(bits), rice_parameter(bits)
    places, last = [], -1
    while len(places) < k:
        first = last + 1 + rice(bits, r, P) + (1 if places else 0)
        length = rice(bits, s, P) + 1
        require(length <= k - len(places), "a run beyond the places")
        require(first + length <= P, "a place that there is not")
        places += range(first, first + length)
        last = places[-1]
    return places


def positions(bits, k, P):
    bits.list(k)
    bits.spend(k)
    if k == 0 or k == P:
        return range(k)
    code = bits.field(3)
    require(code <= 4, "an unknown code")
    places = (raw, bitmap, rice_gaps, packed, runs)[code](bits, k, P)
    require(all(a < b for a, b in zip(places, places[1:])), "a support that does not ascend")
    require(places[-1] < P, "a place that there is not")
    return places


# ---- 7. Drawn supports


def philox(counter, key):
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        a, b = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = b >> 32 ^ c1 ^ k0, b & 0xFFFFFFFF, a >> 32 ^ c3 ^ k1, a & 0xFFFFFFFF
        k0, k1 = k0 + 0x9E3779B9 & 0xFFFFFFFF, k1 + 0xBB67AE85 & 0xFFFFFFFF
    return c0, c1, c2, c3


def words(key):
    n = 0
    while True:
        yield from philox((n % 2**32, n >> 32, 0, 0), (key % 2**32, key >> 32))
        n += 1


def below(key, m):
    """below(0, m), below(1, m), ..."""
    stream = words(key)
    while True:
        low, high = next(stream), next(stream)
        yield (low + (high << 32)) * m >> 64


def exactly(P, count, key):
    require(count <= P, "a support of more places than there are")
    inverse = count > P // 2
    wanted = P - count if inverse else count
    drawn, draws = set(), below(key, P)
    while len(drawn) < wanted:
        drawn.add(next(draws))
    return [i for i in range(P) if i not in drawn] if inverse else sorted(drawn)


def quota(p):
    return math.floor(Fraction(p) * 2**32)


def each(P, p, key):
    q = quota(p)
    return [i for i, word in zip(range(P), words(key)) if word < q]


def all_or_none(P, p, key):
    return range(P if next(words(key)) < quota(p) else 0)


RECIPES = {1: exactly, 2: each, 3: all_or_none}

PARTS = 34
unit = bucket = whole(1, LIMIT)
count = rank = whole(0, LIMIT)
STAGES = {
    1: Kind([], False, says(plain)),
    2: Kind([whole(1, 32767), bucket], False, says(quantized)),
    3: Kind([], False, says(powers)),
    4: Kind([whole(0, LIMIT)], False, says(signs)),
    5: Kind([whole(1, 1000), bucket], False, says(dithered)),
    6: Kind([bucket], False, says(means)),
    7: Kind([], False, short(5, 10, 15, lambda x, f: x != 31)),
    8: Kind([], False, short(8, 7, 127, lambda x, f: x != 255)),
    9: Kind([], False, short(4, 3, 7, lambda x, f: (x, f) != (15, 7))),
    10: Kind([], False, short(5, 2, 15, lambda x, f: x != 31)),
    11: Kind([whole(1, 8), bucket], False, says(stepped)),
    12: Kind([whole(1, 12), bucket], False, says(binned)),
    13: Kind([whole(0, len(BLOCK_FORMATS) - 1), bucket], False, says(blocks)),
    16: Kind([unit], True, supported(listed)),
    17: Kind([unit, count], True, supported(fixed_count)),
    18: Kind([unit, recipe], True, supported(from_seed)),
    32: Kind([whole(1, LIMIT), rank], False, says(low_rank, 0, lambda rows, rank: rank)),
    33: Kind([factor], True, scaled),
    PARTS: Kind([whole(0, 65536)], False, parts),
    35: Kind([whole(0, LIMIT)], True, levelled),
}
FIRST_USER_KIND = 128
USER = Kind([user_parameters], False, users)


# ---- The command line


def text_of(dimension, terms):
    return " ".join([str(dimension)] + [f"{i}:{(x + 0.0).hex()}" for i, x in terms])  # + 0.0: zeros have no sign


def listed(shape):
    stages = []
    for kind, parameters in shape:
        if kind == PARTS:
            stages.append(f"{kind}[" + ", ".join(f"{length} {listed(inside)}" for length, inside in parameters) + "]")
        elif kind >= FIRST_USER_KIND:
            stages.append(f"{kind}({parameters[0].hex()})")
        else:
            flat = [x for p in parameters for x in (p if isinstance(p, tuple) else (p,))]
            stages.append(f"{kind}({', '.join(map(str, flat))})")
    return " ".join(stages)


def shape_of(data, **options):
    dimension, _, shape, _ = opened(data, **options)
    return f"{dimension} {listed(shape)}"


def parsed(words):
    return int(words[0]), [(int(i), float.fromhex(x)) for i, x in (term.split(":") for term in words[1:])]


def check(path, options):
    read = refused = wrong = 0
    for line in open(path):
        words = line.split("#")[0].split()
        if not words:
            continue
        name, code, *meant = words
        try:
            got = decode(b"" if code == "-" else bytes.fromhex(code), **options)
            text = text_of(*got)
            read += 1
        except Refused as why:
            got = None
            text = f"refused ({why})"
            refused += 1
        if got != (None if meant == ["refused"] else parsed(meant)):
            wrong += 1
            print(f"{name}: {code} means {text}, not {' '.join(meant)}")
    print(f"{read} read, {refused} refused, {wrong} wrong")
    return 1 if wrong else 0


def users_of(path):
    names = dict(globals())
    with open(path) as file:
        exec(compile(file.read(), path, "exec"), names)
    return names["USERS"]


def main(arguments):
    options, status = {}, 0
    names = {
        "--dimension": ("largest_dimension", int),
        "--work": ("work", int),
        "--users": ("users", users_of),
    }
    while len(arguments) > 1 and arguments[0] in names:
        name, made = names[arguments[0]]
        options[name], arguments = made(arguments[1]), arguments[2:]
    if arguments[:1] == ["--check"] and len(arguments) == 2:
        return check(arguments[1], options)
    read = lambda data: text_of(*decode(data, **options))
    if arguments[:1] == ["--shape"]:
        read, arguments = lambda data: shape_of(data, **options), arguments[1:]
    if not arguments or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    for path in arguments:
        try:
            with open(path, "rb") as file:
                print(read(file.read()))
        except (Refused, OSError) as why:
            print(f"{path}: {why}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
