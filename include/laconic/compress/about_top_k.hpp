// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "laconic/compress/pipe.hpp"

namespace laconic {

/// Keeps about k of the largest coordinates: some n between (1 - band) k and (1 + band) k that a threshold on a coarse
/// grid of magnitudes leaves, found by counting in place of sorting (the threshold estimation of SIDCo and DGC, but the
/// band is always kept). Of equal magnitudes at the edge it keeps the lower coordinates. Contractive with delta =
/// ceil((1 - band) k) / d; with an unbiased rest of omega < 1, the least (1 - omega) n / d in the band. 0 <= band < 1.
template <class Rest = identity>
struct about_top_k {
    portion k = 1;
    double band = 0.1;
    Rest rest{};

    static constexpr void description(auto&& describe) {
        describe("about_top_k", "about the k largest magnitudes, without a sort; contractive", "after SIDCo and DGC",
                 field("k", &about_top_k::k).needed(), field("band", &about_top_k::band).between(0, 1 - 0x1p-53));
    }

    template <Scalar T, class B>
    using message = messages::sparse<Rest, messages::support_is::listed, T, B>;

    void check(std::size_t d) const {
        k.check(d);
        detail::check_fields(*this);
        for (std::size_t const n : {least_of(d), most_of(d)}) rest.check(n);
    }
    template <class B, Scalar T>
    void blank(B& on, std::size_t d, key from, message<T, B>& m) const {
        begin_message(m, d, *this, from);
        m.make_room(on, most_of(d));
        m.support.resize(0);
        m.expect_payload(on);
    }
    template <class B, Scalar T>
    void operator()(B& on, std::span<T const> x, key from, message<T, B>& m) const {
        begin_message(m, x.size(), *this, from);
        m.make_room(on, most_of(x.size()));
        select_about(on, x, least_of(x.size()), k.of(x.size()), most_of(x.size()), m.support);
        make_payload(on, x, T(1), m);
    }
    bool contractive() const requires(Contractive<Rest> || Unbiased<Rest>) {
        return is_contractive(rest) || is_unbiased(rest);
    }
    double delta(std::size_t d) const requires(Contractive<Rest> || Unbiased<Rest>) {
        if (d == 0) return 1;
        double worst = 1;
        for (std::size_t n = least_of(d); n <= most_of(d); ++n)
            worst = std::min(worst, detail::kept_by(rest, n) * static_cast<double>(n) / static_cast<double>(d));
        return worst;
    }

    template <class R>
    constexpr auto with(R const& r) const {
        return about_top_k<R>{k, band, r};
    }
    bool operator==(about_top_k const&) const = default;

  private:
    std::size_t least_of(std::size_t d) const {
        return static_cast<std::size_t>(std::ceil((1 - band) * static_cast<double>(k.of(d))));
    }
    std::size_t most_of(std::size_t d) const {
        double const most = std::floor((1 + band) * static_cast<double>(k.of(d)));
        return most < static_cast<double>(d) ? static_cast<std::size_t>(most) : d;
    }
};
template <class N>
about_top_k(N) -> about_top_k<>;
template <class N>
about_top_k(N, double) -> about_top_k<>;

}  // namespace laconic
