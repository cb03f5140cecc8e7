// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "laconic/core/key.hpp"
#include "laconic/message/message.hpp"

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
    typename B::template array<T> chosen;  ///< the sender's workspace, not part of what is said

    /// The support has n coordinates: makes room for them and for a payload about n numbers.
    void expect(B& on, std::size_t n) {
        support.resize(n);
        rest.blank(on, n, payload_key, payload);
    }

    struct inner_terms {
        using type = decltype(std::declval<payload_type const&>().terms());
    };
    struct terms_type {
        coordinate const* support;
        typename inner_terms::type inner;
        static constexpr bool in_order = false;
        constexpr std::size_t size() const { return inner.size(); }
        constexpr auto operator[](std::size_t j) const {
            auto t = inner[j];
            t.at = support[t.at];
            return t;
        }
    };

    std::size_t dimension() const { return length; }
    terms_type terms() const& { return {support.data(), payload.terms()}; }
    void terms() const&& = delete;
    friend bool operator==(sparse const& a, sparse const& b) {
        return a.length == b.length && a.support == b.support && a.payload == b.payload;
    }
};

}  // namespace laconic
