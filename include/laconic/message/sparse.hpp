// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "laconic/core/key.hpp"
#include "laconic/message/message.hpp"
#include "laconic/message/plain.hpp"

namespace laconic {

/// What the receiver learns of a support from the wire.
enum class support_is {
    told,     ///< how many coordinates, and which
    counted,  ///< which; how many, both ends know
    agreed    ///< nothing: both ends draw the coordinates from a shared key
};

/// Some coordinates of a vector of `length` numbers, ascending, and a message about the numbers found there. Rest is
/// the compressor that speaks for those numbers; a receiver needs it to know what to expect once it has the count.
template <class Rest, support_is Known, Scalar T, class B>
struct sparse {
    using payload_type = typename Rest::template message<T, B>;
    static constexpr support_is known = Known;

    std::size_t length = 0;
    Rest rest{};
    key payload_key{};
    typename B::template array<coordinate> support;
    payload_type payload;
    mutable typename B::template array<T> chosen;  ///< workspace, not part of what is said

    /// The support has n coordinates: makes room for them and for a payload about n numbers.
    void expect(B& on, std::size_t n) {
        support.resize(n);
        rest.blank(on, n, payload_key, payload);
    }

    template <class Inner>
    struct terms_type {
        coordinate const* support;
        Inner inner;
        static constexpr bool in_order = false;
        constexpr std::size_t size() const { return inner.size(); }
        constexpr auto operator[](std::size_t j) const {
            auto t = inner[j];
            t.at = support[t.at];
            return t;
        }
    };

    std::size_t dimension() const { return length; }
    auto terms() const& requires TermMessage<payload_type> {
        auto const inner = payload.terms();
        return terms_type<std::remove_const_t<decltype(inner)>>{support.data(), inner};
    }
    void terms() const&& = delete;
    friend bool operator==(sparse const& a, sparse const& b) {
        return a.length == b.length && a.support == b.support && a.payload == b.payload;
    }
};

/// A payload that cannot list its terms, being known at run time only, is decoded into the workspace first.
template <class B, Scalar T, class Rest, support_is Known>
requires(!TermMessage<typename Rest::template message<T, B>>) void add_message(B& on, std::span<T> out, T w,
                                                                               sparse<Rest, Known, T, B> const& m) {
    using values = typename plain<T, B>::terms_type;
    m.chosen.assign(m.support.size(), T(0));
    add_message(on, std::span<T>(m.chosen), T(1), m.payload);
    add_terms(on, out, w,
              typename sparse<Rest, Known, T, B>::template terms_type<values>{m.support.data(),
                                                                              {m.chosen.data(), m.chosen.size()}});
}

}  // namespace laconic
