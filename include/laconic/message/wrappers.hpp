// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <tuple>
#include <vector>

#include "laconic/message/plain.hpp"

/// Messages with other messages inside, except for sparse ones.
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
    /// Makes room for any message of either about d numbers, where they have make_room(). c made them.
    void make_room(auto& on, std::size_t d, auto const& c) {
        if constexpr (requires { first.make_room(on, d, c.first); }) first.make_room(on, d, c.first);
        if constexpr (requires { second.make_room(on, d, c.second); }) second.make_room(on, d, c.second);
    }
    friend bool operator==(either const& a, either const& b) {
        return a.is_first == b.is_first && (a.is_first ? a.first == b.first : a.second == b.second);
    }
};

template <class B, Scalar T, class First, class Second>
void add_message(B& on, std::span<T> out, T w, either<First, Second> const& m) {
    m.is_first ? add_message(on, out, w, m.first) : add_message(on, out, w, m.second);
}

/// The message of a compressor whose sender has chosen one of `levels` levels, and that level: 1 .. levels, or 0 for an
/// empty vector, which has none. Work is the sender's memory.
template <class Work, class M>
struct levelled {
    using value_type = typename M::value_type;
    template <class Other>
    using for_backend = levelled<moved_to<Other, Work>, moved_to<Other, M>>;

    std::size_t level = 0, levels = 0, length = 0;
    M inside;
    key from{};
    Work work;  ///< not part of the message

    static auto fields(auto& m) { return std::tie(m.level, m.levels, m.length, m.inside, m.from); }
    std::size_t dimension() const { return length; }
    bool fits(std::size_t n) const { return length == n && detail::fits(inside, n); }
    friend bool operator==(levelled const& a, levelled const& b) { return a.level == b.level && a.inside == b.inside; }
};

template <class B, Scalar T, class Work, class M>
void add_message(B& on, std::span<T> out, T w, levelled<Work, M> const& m) {
    add_message(on, out, w, m.inside);
}

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

    /// Calls use(part, its numbers of x).
    void for_each(auto x, auto use) const {
        for (auto const& one : each) use(one, x.first(one.dimension())), x = x.subspan(one.dimension());
    }
    void add_unturned(auto& on, auto out, auto w) const {
        for_each(out, [&](M const& one, auto part) { messages::add_unturned(on, part, w, one); });
    }
    void turn_back(auto& on, auto y) const {
        for_each(y, [&](M const& one, auto part) { messages::turn_back(on, part, one); });
    }
    bool clear_sent(auto& on, auto x, auto room) const {
        for_each(x, [&](M const& one, auto part) { messages::clear_sent(on, part, room.first(part.size()), one); });
        return true;
    }
};

template <class B, Scalar T, class M>
void add_message(B& on, std::span<T> out, T w, parts_of<M> const& m) {
    m.for_each(out, [&](M const& one, auto part) { add_message(on, part, w, one); });
}

}  // namespace laconic::messages
