// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <tuple>

#include "laconic/core/key.hpp"
#include "laconic/core/view.hpp"
#include "laconic/message/message.hpp"

namespace laconic::messages {

/// The message of a compressor whose sender has chosen one of `levels` levels, and that level: 1 .. levels, or 0 for an
/// empty vector, which has none. C prepares the inner message for a level by blank_at(on, level, d, key, inside).
template <class C, class M>
struct levelled {
    using value_type = typename M::value_type;
    template <class Other>
    using for_backend = levelled<moved_to<Other, C>, moved_to<Other, M>>;

    std::size_t level = 0, levels = 0, length = 0;
    M inside;
    C compressor{};  ///< what the receiver has, beside the length and the key
    key from{};
    typename C::workspace work;  ///< the sender's, not part of the message

    static auto fields(auto& m) { return std::tie(m.level, m.levels, m.length, m.inside, m.from); }
    std::size_t dimension() const { return length; }
    bool fits(std::size_t n) const { return length == n && detail::fits(inside, n); }
    friend bool operator==(levelled const& a, levelled const& b) { return a.level == b.level && a.inside == b.inside; }
};

template <class B, Scalar T, class C, class M>
void add_message(B& on, std::span<T> out, T w, levelled<C, M> const& m) {
    add_message(on, out, w, m.inside);
}

}  // namespace laconic::messages
