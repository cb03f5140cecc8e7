// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "laconic/compress/pipe.hpp"
#include "laconic/core/description.hpp"
#include "laconic/core/term.hpp"
#include "laconic/message/sparse.hpp"

namespace laconic {

/// Keeps the first k coordinates.
template <class Rest = identity>
struct first_k {
    portion k = 1;
    Rest rest{};

    static constexpr void description(auto&& describe) {
        describe("first_k", "the first k coordinates", "", field("k", &first_k::k).needed());
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
        m.expect_payload(on, *this);
    }
    template <class B, Scalar T>
    void operator()(B& on, std::span<T const> x, key from, message<T, B>& m) const {
        begin_message(m, x.size(), *this, from);
        std::vector<coordinate> first(k.of(x.size()));
        std::iota(first.begin(), first.end(), coordinate{0});
        m.support.resize(first.size());
        copy_from_host(on, std::span<coordinate const>(first), std::span<coordinate>(m.support));
        make_payload(on, x, T(1), *this, m);
    }

    template <class R>
    constexpr auto with(R const& r) const {
        return first_k<R>{k, r};
    }
    bool operator==(first_k const&) const = default;
};
template <class N>
first_k(N) -> first_k<>;

}  // namespace laconic
