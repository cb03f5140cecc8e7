# SPDX-License-Identifier: Apache-2.0
# Decoders for the users' kinds of own_messages.hpp: decoder.py --users own_kinds.py


def multiples(bits, T, n, parameters):
    w = parameters.whole(2, 16)
    step = T.magnitude(parameters)
    levels = 2 ** (w - 1) - 1
    require(math.isfinite(T.times(step, levels)), "multiples that are not finite")
    codes = bits.fields(n, w)
    require(all(code <= 2 * levels for code in codes), "a code that there is not")
    return [T.times(code - levels, step) for code in codes]


def one_number(bits, T, n, parameters):
    return [T.number(bits)] * n


USERS = {130: multiples, 255: one_number}
