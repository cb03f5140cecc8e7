// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "laconic/compress/pipe.hpp"

namespace laconic {

/// Keeps the k blocks of `block` consecutive coordinates whose sums of squares are largest, of equal ones the lower
/// block; the last block may be shorter. k counts blocks, or is a fraction of them. Contractive with delta = k / number
/// of blocks, attained where all blocks have the same energy; with an unbiased rest of omega < 1, (1 - omega) times
/// that.
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
    template <class B, Scalar T>
    void blank(B& on, std::size_t d, key from, message<T, B>& m) const {
        begin_message(m, d, *this, from);
        m.unit = {block};
        m.make_room(on, detail::numbers_in_blocks(d, block, k)[0]);
        m.support.resize(k.of(m.places()));
        m.expect_payload(on);
    }
    template <class B, Scalar T>
    void operator()(B& on, std::span<T const> x, key from, message<T, B>& m) const {
        begin_message(m, x.size(), *this, from);
        m.unit = {block};
        m.make_room(on, detail::numbers_in_blocks(x.size(), block, k)[0]);
        select_largest_blocks(on, x, block, k.of(m.places()), m.support);
        make_payload(on, x, T(1), m);
    }
    bool contractive() const requires(Contractive<Rest> || Unbiased<Rest>) {
        return is_contractive(rest) || is_unbiased(rest);
    }
    double delta(std::size_t d) const requires(Contractive<Rest> || Unbiased<Rest>) {
        if (d == 0) return 1;
        double kept = 1;
        for (std::size_t const n : detail::numbers_in_blocks(d, block, k))
            kept = std::min(kept, detail::kept_by(rest, n));
        auto const all = detail::pieces_in(d, block);
        return kept * static_cast<double>(k.of(all)) / static_cast<double>(all);
    }

    template <class R>
    constexpr auto with(R const& r) const {
        return top_blocks<R>{k, block, r};
    }
    bool operator==(top_blocks const&) const = default;
};
template <class N>
top_blocks(N) -> top_blocks<>;
template <class N, class M>
top_blocks(N, M) -> top_blocks<>;

}  // namespace laconic
