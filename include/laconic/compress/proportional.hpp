// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <span>
#include <type_traits>

#include "laconic/compress/pipe.hpp"

namespace laconic::detail {

/// The best probabilities for a sample with an expected count of k: p_i = min(1, |x_i| / bound) makes the error least.
struct proportion {
    double bound = 0;  ///< 0: every number that is not 0 is certain
    double share = 1;  ///< |x|^2 / sum x_i^2 / p_i = 1 / (1 + E|C(x) - x|^2 / |x|^2)
};

/// The best proportion for descending magnitudes, k >= 1 (water-filling; Wangni, Wang, Liu, Zhang, NeurIPS 2018, and
/// CAT's stochastic sparsification, arXiv:2003.06377). Two passes.
template <Scalar T>
proportion proportion_for(std::span<T const> magnitudes, std::size_t k) {
    double const largest = magnitudes.empty() ? 0 : static_cast<double>(magnitudes[0]);
    if (!(largest > 0)) return {};
    // From the smallest on, so that the rest is never the difference of two large sums.
    std::size_t certain = magnitudes.size();
    double rest = 0;
    for (; certain > 0; --certain) {
        double const next = static_cast<double>(magnitudes[certain - 1]) / largest;
        if (certain <= k && static_cast<double>(k - certain) * next > rest) break;
        rest += next;
    }
    double const bound = rest > 0 ? rest / static_cast<double>(k - certain) : 0;
    double squares = 0, weighted = bound * rest;  // each rounded once, with and without fused products
    for (std::size_t i = magnitudes.size(); i-- > 0;) {
        double const v = static_cast<double>(magnitudes[i]) / largest;
        squares = std::fma(v, v, squares);
        if (i < certain) weighted = std::fma(v, v, weighted);
    }
    return {bound * largest, squares / weighted};
}

}  // namespace laconic::detail

namespace laconic {

/// Random dropout with the probabilities that make its error least: keeps about k coordinates, i with probability p_i =
/// min(1, |x_i| / bound), scaled by 1 / p_i. Unbiased; E|C(x) - x|^2 is at most (d / k - 1) |x|^2, that of equal
/// probabilities, attained where all magnitudes are equal.
///
/// Damped, the message is multiplied by the share that makes its error least, which is then (1 - share) |x|^2 exactly:
/// contractive with delta = k / d.
template <class Rest = identity, bool Damped = false>
struct proportional {
    portion k = 1;
    Rest rest{};

    static constexpr void description(auto&& describe) {
        describe("proportional",
                 Damped ? "about k coordinates at random, large ones rather; contractive"
                        : "about k coordinates at random, large ones rather; unbiased",
                 "Wangni, Wang, Liu, Zhang, NeurIPS 2018", field("k", &proportional::k).needed(),
                 detail::decided_field<Damped>("damped"));
    }

    template <Scalar T, class B>
    using message = messages::sparse<Rest, messages::support_is::listed, T, B>;

    void check(std::size_t d) const {
        k.check(d);
        detail::check_some("proportional", k, d);
        rest.check(d);
    }
    void blank(auto& on, std::size_t d, key from, auto& m) const { detail::blank_listed(on, *this, d, from, m, d); }
    /// Throws argument_error where a number is not finite, or the bound to which the drawn numbers are raised is not.
    template <Scalar T>
    void operator()(auto& on, std::span<T const> x, key from, auto& m) const {
        blank(on, x.size(), from, m);
        detail::require_finite(on, "proportional", x);
        sort_magnitudes(on, x, m.chosen);
        auto const how = detail::proportion_for(on_host(on, std::span<T const>(m.chosen)), k.of(x.size()));
        if (!(how.bound <= static_cast<double>(std::numeric_limits<T>::max())))
            throw argument_error("proportional: the sum of the magnitudes over k is not finite");
        auto const bound = static_cast<T>(how.bound);
        sample_in_proportion(on, x, bound, from.child(1), m.support);
        gather(on, x, std::span<coordinate const>(m.support), 1, T(1), m.chosen);
        raise_magnitudes(on, bound, Damped ? static_cast<T>(how.share) : T(1), std::span<T>(m.chosen));
        rest(on, std::span<T const>(m.chosen), m.payload_key, m.payload);
    }
    bool unbiased() const requires(!Damped && Unbiased<Rest>) { return is_unbiased(rest); }
    double omega(std::size_t d) const requires(!Damped && Unbiased<Rest>) {
        double const spread = d == 0 ? 1 : static_cast<double>(d) / static_cast<double>(k.of(d));
        return spread * (1 + detail::largest_omega(rest, d)) - 1;
    }
    double delta(std::size_t d) const requires(Damped&& std::same_as<Rest, identity>) {
        return d == 0 ? 1 : static_cast<double>(k.of(d)) / static_cast<double>(d);
    }

    constexpr auto with(auto const& r) const { return proportional<std::remove_cvref_t<decltype(r)>, Damped>{k, r}; }
    bool operator==(proportional const&) const = default;
};
template <class T>
proportional(T) -> proportional<>;

}  // namespace laconic
