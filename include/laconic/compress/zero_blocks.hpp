// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>

#include "laconic/compress/pipe.hpp"

namespace laconic {

/// Drops the blocks of `block` consecutive coordinates that are zero throughout; the last block may be shorter. It
/// keeps the others as they are, so alone it is the identity, omega = 0 and delta = 1, and pays where zeros come in
/// blocks (OmniReduce, SIGCOMM 2021). With a rest, its constants are the worst of the rest for 1 .. d values, found in
/// d steps.
template <class Rest = identity>
struct zero_blocks {
    std::size_t block = 256;
    Rest rest{};

    static constexpr void description(auto&& describe) {
        describe("zero_blocks", "the blocks that are not all zero; loses nothing", "OmniReduce, SIGCOMM 2021",
                 detail::block_field(&zero_blocks::block).written());
    }

    template <Scalar T, class B>
    using message = messages::sparse<Rest, messages::support_is::listed, T, B, messages::blocks>;

    void check(std::size_t d) const {
        detail::check_fields(*this);
        rest.check(d);
    }
    template <class B, Scalar T>
    void blank(B& on, std::size_t d, key from, message<T, B>& m) const {
        begin_message(m, d, *this, from);
        m.unit = {block};
        m.make_room(on, d);
        m.support.resize(0);
        m.expect_payload(on);
    }
    template <class B, Scalar T>
    void operator()(B& on, std::span<T const> x, key from, message<T, B>& m) const {
        begin_message(m, x.size(), *this, from);
        m.unit = {block};
        m.make_room(on, x.size());
        select_nonzero_blocks(on, x, block, m.support);
        make_payload(on, x, T(1), m);
    }
    bool unbiased() const requires Unbiased<Rest> { return is_unbiased(rest); }
    bool contractive() const requires Contractive<Rest> { return is_contractive(rest); }
    double omega(std::size_t d) const requires Unbiased<Rest> { return detail::largest_omega(rest, d); }
    double delta(std::size_t d) const requires Contractive<Rest> {
        double least = 1;
        if constexpr (!std::same_as<Rest, identity>)
            for (std::size_t n = 1; n <= d; ++n) least = std::min(least, rest.delta(n));
        return least;
    }

    template <class R>
    constexpr auto with(R const& r) const {
        return zero_blocks<R>{block, r};
    }
    bool operator==(zero_blocks const&) const = default;
};
template <class N>
zero_blocks(N) -> zero_blocks<>;

}  // namespace laconic
