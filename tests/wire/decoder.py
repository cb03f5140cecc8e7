#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A decoder of laconic's self-describing files, written from docs/wire-format.md alone.

decoder.py [--dimension N] FILE...        prints of each file one line: its dimension, then coordinate:value, exactly
decoder.py [--dimension N] --check LIST   LIST has a line for each message: a name, its bytes in hex (- for none), then what
                                          they mean in the same form, or "refused"; # begins a comment

Dimensions above N (2^40) are refused. The status is 1 where a file is refused or a line of LIST is wrong.
"""

import math
import struct
import sys
from fractions import Fraction

LARGEST_DIMENSION = 2**40
MOST_LISTED = 2**24  # how many numbers this decoder is willing to list, or to draw, that no bits stand for


class Refused(Exception):
    pass


def width(n):
    return max(n - 1, 0).bit_length()


def quotient_up(a, b):
    return -(-a // b)


def crc32c(data):
    c = 0xFFFFFFFF
    for byte in data:
        c ^= byte
        for _ in range(8):
            c = c >> 1 ^ 0x82F63B78 * (c & 1)
    return c ^ 0xFFFFFFFF


class Bits:
    def __init__(self, data):
        self.data, self.at, self.end = data, 0, 8 * len(data)

    def require(self, condition, why):
        if not condition:
            raise Refused(f"at bit {self.at}: {why}")

    def field(self, w):
        self.require(w <= self.end - self.at, "it ends too early")
        first, last = self.at // 8, (self.at + w + 7) // 8
        word = int.from_bytes(self.data[first:last], "little") >> self.at % 8
        self.at += w
        return word & (1 << w) - 1

    def whole(self, least, most):
        n = 0
        for group in range(9):
            byte = self.field(8)
            n |= (byte & 127) << 7 * group
            if byte < 128:
                self.require(byte > 0 or group == 0, "a whole number that is not in its shortest form")
                self.require(least <= n <= most, f"{n} is outside {least} .. {most}")
                return n
        self.require(False, "a whole number of more than 9 groups")

    def rice(self, r, most):
        ones = 0
        while self.field(1):
            ones += 1
            self.require(ones << r <= most, "a Rice code that is too large")
        return (ones << r) + self.field(r)

    def rice_parameter(self):
        r = self.field(6)
        self.require(r <= 40, "a Rice parameter above 40")
        return r


class Type:
    """binary32 or binary64."""

    def __init__(self, double):
        self.bits, self.form = (64, "<d") if double else (32, "<f")
        self.mantissa, self.least, self.exponent = (52, -1074, 11) if double else (23, -149, 8)
        self.beyond = Fraction(2) ** (1024 if double else 128)
        self.largest = float(self.beyond - self.beyond / 2 ** (self.mantissa + 1))

    def number(self, source):
        v = struct.unpack(self.form, source.field(self.bits).to_bytes(self.bits // 8, "little"))[0]
        source.require(math.isfinite(v), "a number that is not finite")
        return v

    def magnitude(self, source):
        v = self.number(source)
        source.require(math.copysign(1, v) > 0, "a sign where a magnitude is due")
        return v

    def rounded(self, x):
        """The nearest T, ties to even; infinite where it is beyond T."""
        if x == 0:
            return 0.0
        exponent = abs(x.numerator).bit_length() - x.denominator.bit_length()
        if abs(x) < Fraction(2) ** exponent:
            exponent -= 1
        unit = max(exponent - self.mantissa, self.least)
        nearest = round(x / Fraction(2) ** unit) * Fraction(2) ** unit  # round() takes ties to even
        return float(nearest) if abs(nearest) < self.beyond else math.inf


def philox(counter, key):
    (c0, c1, c2, c3), (k0, k1) = counter, key
    low = 2**32 - 1
    for _ in range(10):
        a, b = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (b >> 32) ^ c1 ^ k0, b & low, (a >> 32) ^ c3 ^ k1, a & low
        k0, k1 = (k0 + 0x9E3779B9) & low, (k1 + 0xBB67AE85) & low
    return c0, c1, c2, c3


class Stream:
    """The random words of a key."""

    def __init__(self, key):
        self.key, self.last, self.words = (key % 2**32, key // 2**32), None, ()

    def word(self, i):
        if self.last != i // 4:
            self.last = i // 4
            self.words = philox((self.last % 2**32, self.last // 2**32, 0, 0), self.key)
        return self.words[i % 4]

    def below(self, i, m):
        return (self.word(2 * i) + 2**32 * self.word(2 * i + 1)) * m // 2**64

    def different(self, n, m):
        found, i = set(), 0
        while len(found) < n:
            found.add(self.below(i, m))
            i += 1
        return found


class Message:
    def __init__(self, data, largest_dimension=LARGEST_DIMENSION):
        self.source = source = Bits(data)
        source.require(len(data) >= 4 and data[:4] == b"lacn", 'it does not begin with "lacn"')
        source.at = 32
        source.require(source.field(8) == 1, "a version other than 1")
        flags = source.field(8)
        source.require(flags <= 3, "unknown flags")
        if flags & 1:
            source.require(source.end - source.at >= 32, "it ends before its checksum")
            source.end -= 32
            source.require(int.from_bytes(data[-4:], "little") == crc32c(data[:-4]), "another checksum: it is damaged")
        self.type = Type(flags & 2)
        self.dimension = source.whole(0, LARGEST_DIMENSION)
        source.require(self.dimension <= largest_dimension, f"dimension {self.dimension} is above the limit")
        length = source.whole(0, 2**60)
        padding = source.end - source.at - length
        source.require(0 <= padding < 8, "another length than announced")
        file_end, source.end = source.end, source.at + length
        self.stages = []
        while not self.stages or self.stages[-1]["kind"] in (16, 17, 18, 33):
            source.require(len(self.stages) < 32, "more than 32 stages")
            self.stages.append(self.stage())
        self.coordinates, self.values = self.numbers(0, self.dimension)
        source.require(source.at == source.end, "it is shorter than announced")
        source.end = file_end
        source.require(source.field(padding) == 0, "padding that is not 0")

    def stage(self):
        source = self.source
        kind = source.field(8)
        s = {"kind": kind}
        if kind in (2, 5, 11):
            s["levels"] = source.whole(1, {2: 32767, 5: 1000, 11: 8}[kind])  # of 11: the width
        if kind in (2, 4, 5, 6, 11):
            s["bucket"] = source.whole(1, 2**40)
        elif kind in (16, 17, 18):
            s["unit"] = source.whole(1, 2**40)
            if kind == 17:
                s["count"] = source.whole(0, 2**40)
            if kind == 18:
                s["how"] = source.field(8)
                source.require(1 <= s["how"] <= 3, "an unknown way to draw")
                if s["how"] == 1:
                    s["count"] = source.whole(0, 2**40)
                else:
                    p = Type(True).magnitude(source)
                    source.require(p <= 1, "a probability above 1")
                    s["bound"] = math.floor(Fraction(p) * 2**32)
                s["key"] = source.field(64)
        elif kind == 32:
            s["rows"], s["rank"] = source.whole(1, 2**40), source.whole(0, 2**40)
        elif kind == 33:
            s["factor"] = Fraction(self.type.magnitude(source))
            source.require(s["factor"] <= 1, "a factor above 1")
        else:
            source.require(kind in (1, 3, 7, 8, 9, 10), f"an unknown kind, {kind}")
        return s

    def numbers(self, index, n):
        """What the stages from `index` on say of n numbers: coordinates and values."""
        s, source, rounded = self.stages[index], self.source, self.type.rounded
        if s["kind"] == 33:
            coordinates, values = self.numbers(index + 1, n)
            return coordinates, [rounded(s["factor"] * Fraction(v)) for v in values]
        if s["kind"] == 32:
            return range(n), self.product(s["rows"], s["rank"], n)
        if s["kind"] < 16:
            source.require(n <= source.end - source.at, "it ends too early")  # no number takes less than a bit
            return range(n), [rounded(v) for v in self.dense(s, n)]
        unit, places = s["unit"], quotient_up(n, s["unit"])
        support = self.support(s, places)
        inside = len(support) * unit
        if support and support[-1] == places - 1:
            inside -= places * unit - n
        coordinates, values = self.numbers(index + 1, inside)
        return [support[j // unit] * unit + j % unit for j in coordinates], values

    def dense(self, s, n):
        source, kind, bucket = self.source, s["kind"], s.get("bucket", 1)
        magnitude = lambda: Fraction(self.type.magnitude(source))
        buckets = range(quotient_up(n, bucket))
        if kind == 1:
            return [Fraction(self.type.number(source)) for _ in range(n)]
        if kind == 2:
            steps = [magnitude() for _ in buckets]
            source.require(all(math.isfinite(self.type.rounded(step * s["levels"])) for step in steps),
                           "a grid that is not finite")
            return [code * steps[j // bucket] for j, code in enumerate(self.codes(s["levels"], n))]
        if kind == 3:
            return [self.power() for _ in range(n)]
        if kind == 4:
            scales = [magnitude() for _ in buckets]
            return [-scales[j // bucket] if source.field(1) else scales[j // bucket] for j in range(n)]
        if kind == 5:
            norms = [magnitude() for _ in buckets]
            halved = lambda code, norm: (code > 0) * norm / 2 ** (s["levels"] - code)
            return [halved(code, norms[j // bucket]) - halved(-code, norms[j // bucket])
                    for j, code in enumerate(self.codes(s["levels"], n))]
        if kind == 6:
            pairs = [(magnitude(), magnitude()) for _ in buckets]
            return [-pairs[j // bucket][0] if source.field(1) else pairs[j // bucket][1] for j in range(n)]
        if kind == 11:
            grids = [(Fraction(self.type.number(source)), magnitude()) for _ in buckets]
            last = 2 ** s["levels"] - 1
            source.require(all(math.isfinite(self.type.rounded(a + last * step)) for a, step in grids),
                           "a grid that is not finite")
            return [grids[j // bucket][0] + source.field(s["levels"]) * grids[j // bucket][1] for j in range(n)]
        return [self.short_number(kind) for _ in range(n)]

    def product(self, rows, rank, n):
        source = self.source
        cols = n // rows
        source.require(n == rows * cols and min(1, n) <= rank <= min(rows, cols), "no such matrix")
        source.require(n <= MOST_LISTED, "more numbers than this decoder lists")
        source.require(rank * (rows + cols) <= source.end - source.at, "it ends too early")
        left = [self.type.number(source) for _ in range(rank * rows)]
        right = [self.type.number(source) for _ in range(rank * cols)]
        largest = [max(map(abs, factor), default=0.0) for factor in (left, right)]
        source.require(largest[0] * largest[1] * (2.0 * rank) <= self.type.largest, "a product that is not finite")
        values = []
        for i in range(rows):
            for j in range(cols):
                total = 0.0
                for c in range(rank):
                    exact = Fraction(left[c * rows + i]) * Fraction(right[c * cols + j]) + Fraction(total)
                    total = Type(True).rounded(exact)
                values.append(self.type.rounded(Fraction(total)))
        return values

    def codes(self, levels, n):
        source, codes = self.source, []
        if levels > 1:
            for _ in range(n):
                code = source.field(width(2 * levels + 1))
                source.require(code <= 2 * levels, "a code outside the grid")
                codes.append(code - levels)
        else:
            while len(codes) < n:
                r = min(5, n - len(codes))
                group = source.field(width(3**r))
                source.require(group < 3**r, "codes outside the grid")
                codes += [group // 3**i % 3 - 1 for i in range(r)]
        return codes

    def power(self):
        exponent, sign = self.source.field(self.type.exponent), self.source.field(1)
        self.source.require(exponent < 2**self.type.exponent - 1, "an exponent that is not finite")
        if exponent == 0:
            return Fraction(0)
        return (-1) ** sign * Fraction(2) ** (exponent - 2 ** (self.type.exponent - 1) + 1)

    def short_number(self, kind):
        e, m, bias = {7: (5, 10, 15), 8: (8, 7, 127), 9: (4, 3, 7), 10: (5, 2, 15)}[kind]
        f, x, sign = self.source.field(m), self.source.field(e), self.source.field(1)
        last = x == 2**e - 1 and (kind != 9 or f == 7)
        self.source.require(not last, "a short number that is not finite")
        size = (1 + Fraction(f, 2**m)) * Fraction(2) ** (x - bias) if x else Fraction(f, 2**m) * Fraction(2) ** (1 - bias)
        return (-1) ** sign * size

    def support(self, s, places):
        source = self.source
        if s["kind"] == 18:
            source.require(places < 2**32, "more places than can be drawn from")
            source.require(places <= MOST_LISTED, "more places than this decoder draws from")
            return self.drawn(s, places)
        count = s["count"] if s["kind"] == 17 else source.field(width(places + 1))
        source.require(count <= places, "more places than there are")
        if count in (0, places):
            return range(count)
        source.require(count <= MOST_LISTED, "more places than this decoder lists")
        chosen = self.positions(count, places)
        source.require(chosen[-1] < places, "a place beyond the last")
        return chosen

    def drawn(self, s, places):
        stream = Stream(s["key"])
        if s["how"] == 3:
            return range(places if stream.word(0) < s["bound"] else 0)
        if s["how"] == 2:
            return [i for i in range(places) if stream.word(i) < s["bound"]]
        count = s["count"]
        self.source.require(count <= places, "more places than there are")
        if count <= places // 2:
            return sorted(stream.different(count, places))
        left_out = stream.different(places - count, places)
        return [i for i in range(places) if i not in left_out]

    def positions(self, count, places):
        source, chosen = self.source, []

        def after(gap):
            chosen.append((chosen[-1] if chosen else -1) + 1 + gap)

        code = source.field(3)
        source.require(code <= 4, "an unknown code of positions")
        if code == 0:
            for _ in range(count):
                place = source.field(width(places))
                source.require(not chosen or place > chosen[-1], "places that do not ascend")
                chosen.append(place)
        elif code == 1:
            bitmap = f"{source.field(places):b}"
            chosen = [i for i, bit in enumerate(reversed(bitmap)) if bit == "1"]
            source.require(len(chosen) == count, "another number of bits than of places")
        elif code == 2:
            r = source.rice_parameter()
            for _ in range(count):
                after(source.rice(r, places))
        elif code == 3:
            for first in range(0, count, 128):
                w = source.field(6)
                source.require(w <= width(places), "gaps that are too wide")
                for _ in range(min(128, count - first)):
                    after(source.field(w))
        else:
            r, s = source.rice_parameter(), source.rice_parameter()
            while len(chosen) < count:
                after(source.rice(r, places) + bool(chosen))
                more = source.rice(s, count)
                source.require(len(chosen) + more <= count, "a run beyond the last place")
                for _ in range(more):
                    after(0)
        return chosen

    def terms(self):
        return zip(self.coordinates, self.values)


def meaning(data, largest_dimension):
    """What the bytes mean, as words."""
    m = Message(data, largest_dimension)
    return [str(m.dimension)] + [f"{i}:{v.hex()}" for i, v in m.terms()]


def parsed(words):
    """The same as numbers, however they are written."""
    return words if words == ["refused"] else [int(words[0])] + [
        (int(i), float.fromhex(v)) for i, v in (word.split(":") for word in words[1:])]


def check(path, largest_dimension):
    read = refused = wrong = 0
    with open(path) as lines:
        for line in lines:
            words = line.split("#")[0].split()
            if not words:
                continue
            name, data, *meant = words
            try:
                got, why = meaning(bytes.fromhex("" if data == "-" else data), largest_dimension), ""
                read += 1
            except Refused as e:
                got, why = ["refused"], f" ({e})"
                refused += 1
            if parsed(got) != parsed(meant):
                wrong += 1
                print(f"{name}: {data} means {' '.join(got)}{why}, not {' '.join(meant)}")
    print(f"{read} read, {refused} refused, {wrong} wrong")
    return wrong > 0


def main(arguments):
    largest_dimension = LARGEST_DIMENSION
    if arguments[:1] == ["--dimension"]:
        largest_dimension, arguments = int(arguments[1]), arguments[2:]
    if arguments[:1] == ["--check"] and len(arguments) == 2:
        return check(arguments[1], largest_dimension)
    if not arguments or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    status = 0
    for path in arguments:
        try:
            with open(path, "rb") as file:
                print(" ".join(meaning(file.read(), largest_dimension)))
        except (Refused, OSError) as e:
            print(f"{path}: {e}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
