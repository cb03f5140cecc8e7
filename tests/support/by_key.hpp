// SPDX-License-Identifier: Apache-2.0
//
// The host's rounding by the chances of a key, as the reference has it: the library itself draws once for all buckets.
#pragma once

#include <cstdint>
#include <span>

#include "laconic/backend/host.hpp"

namespace laconic::kernels {

template <class A, Scalar T, LevelCode Code>
void round_to_levels(basic_host<A>&, std::span<T const> x, T step, int levels, key from, std::uint64_t first,
                     std::span<Code> codes) {
    random_windows<A> draws(from, first, first + x.size());
    laconic::detail::codes_out<A, Code> out(codes);
    round_to_levels(draws, x, step, levels, first, out);
}

template <class A, Scalar T>
void round_to_halvings(basic_host<A>&, std::span<T const> x, T top, int levels, key from, std::uint64_t first,
                       std::span<std::int16_t> codes) {
    random_windows<A> draws(from, first, first + x.size());
    laconic::detail::codes_out<A, std::int16_t> out(codes);
    round_to_halvings(draws, x, top, levels, first, out);
}

template <class A, Scalar T>
void round_to_range(basic_host<A>&, std::span<T const> x, T least, T step, int most, key from, std::uint64_t first,
                    std::span<std::uint8_t> codes) {
    random_windows<A> draws(from, first, first + x.size());
    laconic::detail::codes_out<A, std::uint8_t> out(codes);
    round_to_range(draws, x, least, step, most, first, out);
}

template <class A, Scalar T>
void round_to_nearest_in_range(basic_host<A>& on, std::span<T const> x, T least, T step, int most,
                               std::span<std::uint8_t> codes) {
    laconic::detail::codes_out<A, std::uint8_t> out(codes);
    round_to_nearest_in_range(on, x, least, step, most, out);
}

}  // namespace laconic::kernels
