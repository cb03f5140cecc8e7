// SPDX-License-Identifier: Apache-2.0
#include "laconic/adapt/level.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "laconic/compress/top_k.hpp"

using namespace laconic;

namespace {

// A level of your own: as many coordinates more as were said.
struct rising {
    double k = 1;
    template <class B, Scalar T>
    void tune(B&, top_k<>& c, round_context const&, std::span<T const>, std::span<T const>) {
        c.k = k;
    }
    template <class B, Scalar T, class M>
    void update(B&, std::span<T const>, M const& m) {
        k += static_cast<double>(m.support.size());
    }
};
struct deaf {
    template <class B, class C, Scalar T>
    void tune(B&, C&, round_context const&, std::span<T const>, std::span<T const>) {}
};

static_assert(Level<fixed_level, top_k<>> && Level<fixed_level, top_k<>, float>);
static_assert(Level<rising, top_k<>> && !Level<rising, identity> && !Level<deaf, top_k<>>);

}  // namespace

TEST_CASE("a fixed level leaves the compressor as it was") {
    host on;
    fixed_level level;
    top_k<> c{3};
    std::vector<double> const x{1, 2};
    level.tune(on, c, round_context{}, std::span<double const>(x), std::span<double const>(x));
    level.update(on, std::span<double const>(x), compress(top_k{1}, x, key{1}));
    CHECK(c == top_k{3});
}

TEST_CASE("a level of your own sets the compressor") {
    host on;
    rising level;
    top_k<> c{7};
    std::vector<double> const x{1, 2};
    level.tune(on, c, round_context{}, std::span<double const>(x), std::span<double const>(x));
    CHECK(c == top_k{1});
    level.update(on, std::span<double const>(x), compress(top_k{2}, x, key{1}));
    level.tune(on, c, round_context{}, std::span<double const>(x), std::span<double const>(x));
    CHECK(c == top_k{3});
}
