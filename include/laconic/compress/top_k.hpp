// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "laconic/compress/pipe.hpp"

namespace laconic {

/// Keeps the k coordinates of largest magnitude, of equal ones the lower coordinate. Contractive with delta = k / d,
/// attained where all magnitudes are equal; with an unbiased rest of omega < 1, delta = (1 - omega) k / d.
template <class Rest = identity>
struct top_k {
    portion k = 1;
    Rest rest{};

    static constexpr void description(auto&& describe) {
        describe("top_k", "the k largest magnitudes; contractive", "Stich et al., NeurIPS 2018",
                 field("k", &top_k::k).needed());
    }

    template <Scalar T, class B>
    using message = messages::sparse<Rest, messages::support_is::fixed_count, T, B>;

    void check(std::size_t d) const {
        k.check(d);
        rest.check(k.of(d));
    }
    template <class B, Scalar T>
    void blank(B& on, std::size_t d, key from, message<T, B>& m) const {
        begin_message(m, d, *this, from);
        m.support.resize(k.of(d));
        m.expect_payload(on);
    }
    template <class B, Scalar T>
    void operator()(B& on, std::span<T const> x, key from, message<T, B>& m) const {
        begin_message(m, x.size(), *this, from);
        select_largest(on, x, k.of(x.size()), m.support);
        make_payload(on, x, T(1), m);
    }
    bool contractive() const requires(Contractive<Rest> || Unbiased<Rest>) {
        return is_contractive(rest) || is_unbiased(rest);
    }
    double delta(std::size_t d) const requires(Contractive<Rest> || Unbiased<Rest>) {
        auto const n = k.of(d);
        return d == 0 ? 1 : detail::kept_by(rest, n) * static_cast<double>(n) / static_cast<double>(d);
    }

    template <class R>
    constexpr auto with(R const& r) const {
        return top_k<R>{k, r};
    }
    bool operator==(top_k const&) const = default;
};
template <class N>
top_k(N) -> top_k<>;

}  // namespace laconic
