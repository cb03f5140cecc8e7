// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <tuple>

#include "laconic/message/message.hpp"

namespace laconic::messages {

/// A message whose numbers are `factor` times those of `inside`; both ends know the factor, so it does not travel. It
/// lists no terms: the factor joins the weight, with one rounding, whatever the inner message is.
template <class M, Scalar T>
struct scaled {
    using value_type = T;
    template <class Other>
    using for_backend = scaled<moved_to<Other, M>, T>;
    T factor = 1;
    M inside;

    static auto fields(auto& m) { return std::tie(m.factor, m.inside); }
    std::size_t dimension() const { return inside.dimension(); }
    bool fits(std::size_t n) const { return detail::fits(inside, n); }
    friend bool operator==(scaled const& a, scaled const& b) { return a.factor == b.factor && a.inside == b.inside; }
};

template <class B, Scalar T, class M>
void add_message(B& on, std::span<T> out, T w, scaled<M, T> const& m) {
    add_message(on, out, w * m.factor, m.inside);
}

}  // namespace laconic::messages
