// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include "laconic/backend/host/impl/instruction_set.hpp"
#include "laconic/backend/host/impl/merge_place.hpp"
#include "laconic/core/term.hpp"

namespace laconic::detail {

/// Whether merge_by_registers does anything: for float, with AVX-512.
template <class T, class Set = instruction_set::chosen>
inline constexpr bool merges_by_registers = std::same_as<T, float>&& std::derived_from<Set, instruction_set::avx512>;

/// Goes on with the sum of two lists of terms with ascending coordinates, a with the values x and b with the values y,
/// into `at` and `values`: about `most` terms more, or fewer where a list, or the room in `at`, comes to an end.
template <class Set = instruction_set::chosen>
merge_place merge_by_registers(merge_place p, [[maybe_unused]] std::size_t most,
                               [[maybe_unused]] std::span<coordinate const> a, [[maybe_unused]] float const* x,
                               [[maybe_unused]] std::span<coordinate const> b, [[maybe_unused]] float const* y,
                               [[maybe_unused]] std::span<coordinate> at, [[maybe_unused]] float* values) {
    if constexpr (std::derived_from<Set, instruction_set::avx512>)
        return merge_eights<Set>(p, most, a, x, b, y, at, values);
    else
        return p;
}

}  // namespace laconic::detail
