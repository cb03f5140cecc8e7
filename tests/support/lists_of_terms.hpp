// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "laconic/core/key.hpp"
#include "laconic/core/term.hpp"

/// Lists of terms with ascending coordinates, for what adds them.
namespace lists_of_terms {

template <class T>
struct drawn_list {
    std::vector<laconic::coordinate> at{};
    std::vector<T> values{};
};

/// Each of d places, from `first` on, with a chance, in blocks; a fifth to a third of the values are odd ones.
template <class T>
drawn_list<T> drawn(std::size_t first, std::size_t d, double share, std::size_t block, std::uint64_t seed,
                   std::initializer_list<T> odd) {
    using laconic::key;
    drawn_list<T> list;
    for (std::size_t i = 0; i < d; ++i) {
        if (key{seed}.uniform(i / block) >= share) continue;
        auto const n = key{seed}.child(1).below(i, 20);
        list.at.push_back(static_cast<laconic::coordinate>(first + i));
        list.values.push_back(n < odd.size() ? odd.begin()[n] : static_cast<T>(key{seed}.child(2).uniform(i) - 0.5));
    }
    return list;
}

}  // namespace lists_of_terms
