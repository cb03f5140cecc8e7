// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "laconic/compress/pipe.hpp"

namespace laconic {

/// Keeps k blocks of `block` consecutive coordinates, every set of k blocks equally likely, scaled by blocks / k; the
/// last block may be shorter. k counts blocks, or is a fraction of them. Both ends draw the set from the key, so it
/// costs no bits. Unbiased with E|C(x) - x|^2 = (blocks / k - 1) |x|^2 exactly, whatever the blocks' lengths; with an
/// unbiased rest, omega = (blocks / k) (1 + omega of the rest) - 1. IBCD and ISEGA use it ("99% of ... is a waste",
/// arXiv:1901.09437).
template <class Rest = identity>
struct rand_block {
    portion k = 1;
    std::size_t block = 256;
    Rest rest{};

    static constexpr void description(auto&& describe) {
        describe("rand_block", "k blocks at random; unbiased", "arXiv:1901.09437", field("k", &rand_block::k).needed(),
                 detail::block_field(&rand_block::block).written_by_name());
    }

    template <Scalar T, class B>
    using message = messages::sparse<Rest, messages::support_is::from_seed, T, B, messages::blocks>;

    void check(std::size_t d) const {
        detail::check_fields(*this);
        detail::check_blocks(k, d, block);
        detail::check_some("rand_block", k, d);
        for (std::size_t const n : detail::numbers_in_blocks(d, block, k)) rest.check(n);
    }
    template <class B, Scalar T>
    void blank(B& on, std::size_t d, key from, message<T, B>& m) const {
        detail::blank_drawn(on, *this, d, from, m);
    }
    template <class B, Scalar T>
    void operator()(B& on, std::span<T const> x, key from, message<T, B>& m) const {
        detail::compress_drawn(on, *this, x, from, m);
    }
    /// How the blocks that travel are drawn from the key, and the factor of their values.
    messages::draw recipe(std::size_t places, key from) const {
        return {messages::draw_method::exactly, k.of(places), 0, from};
    }
    double scale(std::size_t d) const {
        auto const all = detail::pieces_in(d, block), n = k.of(all);
        return n == 0 ? 0 : static_cast<double>(all) / static_cast<double>(n);
    }
    bool unbiased() const requires Unbiased<Rest> { return is_unbiased(rest); }
    double omega(std::size_t d) const requires Unbiased<Rest> {
        if (d == 0) return 0;
        double worst = 0;
        for (std::size_t const n : detail::numbers_in_blocks(d, block, k)) worst = std::max(worst, rest.omega(n));
        return scale(d) * (1 + worst) - 1;
    }

    template <class R>
    constexpr auto with(R const& r) const {
        return rand_block<R>{k, block, r};
    }
    bool operator==(rand_block const&) const = default;
};
template <class N>
rand_block(N) -> rand_block<>;
template <class N, class M>
rand_block(N, M) -> rand_block<>;

}  // namespace laconic
