// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "laconic/compress/compressor.hpp"
#include "laconic/message/wrappers.hpp"

namespace laconic {

/// C(x) / (1 + omega) of an unbiased C: contractive with delta = 1 / (1 + omega) (Richtarik, Sokolov, Fatkhullin, EF21,
/// NeurIPS 2021, lemma 8), so that any unbiased compressor can serve a method for contractive ones. Both ends know the
/// factor, so it costs no bits. scaled_down{rand_k{k}} is rand_k without its scale.
template <class C>
struct scaled_down {
    static_assert(detail::require_members<C>());
    static_assert(Unbiased<C>,
                  "scaled_down needs an unbiased compressor, one with omega(d); a contractive one needs no scaling");
    C inside{};

    static constexpr void description(auto&& describe) {
        describe("scaled_down", "an unbiased C over 1 + omega; contractive",
                 "Richtarik, Sokolov, Fatkhullin, NeurIPS 2021", field("compressor", &scaled_down::inside).needed());
    }

    template <Scalar T, class B>
    using message = messages::scaled<detail::message_of<C, T, B>, T>;

    /// Throws theory_error where the omega of the inner compressor is not known.
    void check(std::size_t d) const {
        inside.check(d);
        static_cast<void>(inside.omega(d));
    }
    template <class B, Scalar T, class M>
    void blank(B& on, std::size_t d, key from, messages::scaled<M, T>& m) const {
        check_dimension(d);
        m.factor = static_cast<T>(delta(d));
        inside.blank(on, d, from, m.inside);
    }
    template <class B, Scalar T, class M>
    void operator()(B& on, std::span<T const> x, key from, messages::scaled<M, T>& m) const {
        check_dimension(x.size());
        m.factor = static_cast<T>(delta(x.size()));
        inside(on, x, from, m.inside);
    }
    bool contractive() const { return is_unbiased(inside); }
    double delta(std::size_t d) const { return 1 / (1 + inside.omega(d)); }

    bool operator==(scaled_down const&) const = default;
};
template <class C>
scaled_down(C) -> scaled_down<C>;

}  // namespace laconic
