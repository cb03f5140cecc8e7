// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <type_traits>

#include "laconic/compress/pipe.hpp"

/// The sparsifiers that keep what is largest: single numbers, about so many of them, or blocks.
namespace laconic {

/// Keeps the k coordinates of largest magnitude, of equal ones the lower coordinate. Contractive with delta = k / d,
/// attained where all magnitudes are equal; with an unbiased rest of omega < 1, delta = (1 - omega) k / d. With a
/// chunk, of each `chunk` consecutive coordinates the k largest, or k as a fraction of them; of a last chunk of fewer
/// than k, all (SparseLoCo, arXiv:2508.15706, keeps 64 of 4096). delta is then k / chunk, as of one chunk. 0: one chunk
/// for all.
template <class Rest = identity>
struct top_k {
    portion k = 1;
    std::size_t chunk = 0;
    Rest rest{};

    static constexpr void description(auto&& describe) {
        describe("top_k", "the k largest magnitudes, of all or of each chunk; contractive",
                 "Stich et al., NeurIPS 2018", field("k", &top_k::k).needed(), field("chunk", &top_k::chunk));
    }

    template <Scalar T, class B>
    using message = messages::sparse<Rest, messages::support_is::fixed_count, T, B>;

    void check(std::size_t d) const {
        k.check(chunk != 0 ? chunk : d);
        rest.check(kept_of(d));
    }
    void blank(auto& on, std::size_t d, key from, auto& m) const {
        begin_message(m, d, *this, from);
        m.support.resize(kept_of(d));
        m.expect_payload(on, *this);
    }
    template <Scalar T>
    void operator()(auto& on, std::span<T const> x, key from, auto& m) const {
        begin_message(m, x.size(), *this, from);
        select(on, x, m.support);
        make_payload(on, x, T(1), *this, m);
    }
    using compresses_sum = top_k;
    template <Scalar T>
    bool compress_sum(auto& on, kernels::compensation<T> const& sum, key from, auto& m) const {
        auto const [a, g, h, b, e, out] = sum;
        begin_message(m, out.size(), *this, from);
        if (chunk == 0) {
            if (!compensate_and_select_largest(on, a, g, h, b, e, out, k.of(out.size()), m.support)) return false;
        } else {
            if (!compensate(on, a, g, h, b, e, out)) return false;
            select(on, std::span<T const>(out), m.support);
        }
        make_payload(on, std::span<T const>(out), T(1), *this, m);
        return true;
    }
    bool contractive() const requires detail::KeepsShare<Rest> { return detail::keeps_share(rest); }
    double delta(std::size_t d) const requires detail::KeepsShare<Rest> {
        auto const length = chunk_of(d);
        double const kept = static_cast<double>(k.of(length)) / static_cast<double>(length);
        return d == 0 ? 1 : detail::kept_by(rest, kept_of(d)) * kept;
    }

    constexpr auto with(auto const& r) const { return top_k<std::remove_cvref_t<decltype(r)>>{k, chunk, r}; }
    bool operator==(top_k const&) const = default;

  private:
    std::size_t chunk_of(std::size_t d) const { return chunk != 0 ? std::min(chunk, d) : d; }
    std::size_t kept_of(std::size_t d) const {
        std::size_t const length = chunk_of(d);
        return length == 0 ? 0 : detail::numbers_of_each(d, length, k.of(length));
    }
    template <Scalar T>
    void select(auto& on, std::span<T const> x, auto& support) const {
        std::size_t const length = chunk_of(x.size());
        if (length == x.size())
            select_largest(on, x, k.of(length), support);
        else
            select_largest_of_each(on, x, length, k.of(length), support);
    }
};
template <class N, class R = identity>
top_k(N, std::size_t = {}, R = {}) -> top_k<R>;

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
    void blank(auto& on, std::size_t d, key from, auto& m) const {
        detail::blank_listed(on, *this, d, from, m, most_of(d));
    }
    template <Scalar T>
    void operator()(auto& on, std::span<T const> x, key from, auto& m) const {
        begin_message(m, x.size(), *this, from);
        m.make_room(on, most_of(x.size()), *this);
        select_about(on, x, least_of(x.size()), k.of(x.size()), most_of(x.size()), m.support);
        make_payload(on, x, T(1), *this, m);
    }
    bool contractive() const requires detail::KeepsShare<Rest> { return detail::keeps_share(rest); }
    double delta(std::size_t d) const requires detail::KeepsShare<Rest> {
        if (d == 0) return 1;
        double worst = 1;
        for (std::size_t n = least_of(d); n <= most_of(d); ++n)
            worst = std::min(worst, detail::kept_by(rest, n) * static_cast<double>(n) / static_cast<double>(d));
        return worst;
    }

    constexpr auto with(auto const& r) const { return about_top_k<std::remove_cvref_t<decltype(r)>>{k, band, r}; }
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
template <class N, class R = identity>
about_top_k(N, double = {}, R = {}) -> about_top_k<R>;

/// Keeps the k blocks of `block` consecutive coordinates whose sums of squares are largest, of equal ones the lower
/// block; the last block may be shorter. k counts blocks, or is a fraction of them. Contractive with delta = k /
/// blocks, attained where all have the same energy; with an unbiased rest of omega < 1, (1 - omega) times that.
template <class Rest = identity>
struct top_blocks {
    portion k = 1;
    std::size_t block = 256;
    Rest rest{};

    static constexpr void description(auto&& describe) {
        describe("top_blocks", "the k blocks of most energy; contractive", "", field("k", &top_blocks::k).needed(),
                 detail::block_field(&top_blocks::block).written_by_name());
    }

    template <Scalar T, class B>
    using message = messages::sparse<Rest, messages::support_is::fixed_count, T, B, messages::blocks>;

    void check(std::size_t d) const {
        detail::check_fields(*this);
        detail::check_blocks(k, d, block);
        for (std::size_t const n : detail::numbers_in_blocks(d, block, k)) rest.check(n);
    }
    void blank(auto& on, std::size_t d, key from, auto& m) const {
        begin_message(m, d, *this, from);
        m.make_room(on, detail::numbers_in_blocks(d, block, k)[0], *this);
        m.support.resize(k.of(m.places()));
        m.expect_payload(on, *this);
    }
    template <Scalar T>
    void operator()(auto& on, std::span<T const> x, key from, auto& m) const {
        begin_message(m, x.size(), *this, from);
        m.make_room(on, detail::numbers_in_blocks(x.size(), block, k)[0], *this);
        select_largest_blocks(on, x, block, k.of(m.places()), m.support);
        make_payload(on, x, T(1), *this, m);
    }
    bool contractive() const requires detail::KeepsShare<Rest> { return detail::keeps_share(rest); }
    double delta(std::size_t d) const requires detail::KeepsShare<Rest> {
        if (d == 0) return 1;
        double kept = 1;
        for (std::size_t const n : detail::numbers_in_blocks(d, block, k))
            kept = std::min(kept, detail::kept_by(rest, n));
        auto const all = detail::pieces_in(d, block);
        return kept * static_cast<double>(k.of(all)) / static_cast<double>(all);
    }

    constexpr auto with(auto const& r) const { return top_blocks<std::remove_cvref_t<decltype(r)>>{k, block, r}; }
    bool operator==(top_blocks const&) const = default;
};
template <class N, class R = identity>
top_blocks(N, std::size_t = {}, R = {}) -> top_blocks<R>;

}  // namespace laconic
