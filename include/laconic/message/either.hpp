// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <tuple>

#include "laconic/message/message.hpp"

namespace laconic::messages {

/// One of two messages; both ends know which. The memory of the other is kept for later rounds.
template <class First, class Second>
struct either {
    using value_type = typename First::value_type;
    template <class Other>
    using for_backend = either<moved_to<Other, First>, moved_to<Other, Second>>;
    bool is_first = true;
    First first;
    Second second;

    static auto fields(auto& m) { return std::tie(m.is_first, m.first, m.second); }
    std::size_t dimension() const { return is_first ? first.dimension() : second.dimension(); }
    bool fits(std::size_t n) const { return is_first ? detail::fits(first, n) : detail::fits(second, n); }
    /// Makes room for any message of either about d numbers, where they have make_room().
    template <class B>
    void make_room(B& on, std::size_t d) {
        if constexpr (GivenRoom<First, B>) first.make_room(on, d);
        if constexpr (GivenRoom<Second, B>) second.make_room(on, d);
    }
    friend bool operator==(either const& a, either const& b) {
        return a.is_first == b.is_first && (a.is_first ? a.first == b.first : a.second == b.second);
    }
};

template <class B, Scalar T, class First, class Second>
void add_message(B& on, std::span<T> out, T w, either<First, Second> const& m) {
    m.is_first ? add_message(on, out, w, m.first) : add_message(on, out, w, m.second);
}

}  // namespace laconic::messages
