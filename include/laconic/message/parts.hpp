// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <tuple>
#include <vector>

#include "laconic/message/message.hpp"

namespace laconic::messages {

/// Messages about consecutive parts of a vector.
template <class M>
struct parts_of {
    using value_type = typename M::value_type;
    template <class Other>
    using for_backend = parts_of<moved_to<Other, M>>;
    std::size_t count = 0;  ///< the sum of the parts' dimensions, else no reader accepts it
    std::vector<M> each;

    static auto fields(auto& m) { return std::tie(m.count, m.each); }
    std::size_t dimension() const { return count; }
    bool fits(std::size_t n) const {
        std::size_t left = n;
        for (auto const& one : each) {
            if (one.dimension() > left || !detail::fits(one, one.dimension())) return false;
            left -= one.dimension();
        }
        return count == n && left == 0;
    }
    bool operator==(parts_of const&) const = default;
};

template <class B, Scalar T, class M>
void add_message(B& on, std::span<T> out, T w, parts_of<M> const& m) {
    std::size_t begin = 0;
    for (auto const& one : m.each) {
        add_message(on, out.subspan(begin, one.dimension()), w, one);
        begin += one.dimension();
    }
}

}  // namespace laconic::messages
