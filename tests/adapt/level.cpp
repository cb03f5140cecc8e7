// SPDX-License-Identifier: Apache-2.0
#include "laconic/adapt/level.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "laconic/compress/top_k.hpp"

using namespace laconic;

namespace {

// A level of your own: one coordinate more each round.
struct rising {
    double k = 1;
    template <class B, Scalar T>
    void tune(B&, top_k<>& c, std::span<T const>, std::span<T const>) {
        c.k = k;
    }
    template <class B, Scalar T>
    void moved(B&, std::span<T const>) {
        k += 1;
    }
};
struct deaf {
    template <class B, class C, Scalar T>
    void tune(B&, C&, std::span<T const>, std::span<T const>) {}
};

static_assert(Level<fixed_level, top_k<>> && Level<fixed_level, top_k<>, float>);
static_assert(Level<rising, top_k<>> && !Level<rising, full> && !Level<deaf, top_k<>>);

}  // namespace

TEST_CASE("a fixed level leaves the compressor as it was") {
    host on;
    fixed_level level;
    top_k<> c{3};
    std::vector<double> const x{1, 2};
    level.tune(on, c, std::span<double const>(x), std::span<double const>(x));
    level.moved(on, std::span<double const>(x));
    CHECK(c == top_k{3});
}

TEST_CASE("a level of your own sets the compressor") {
    host on;
    rising level;
    top_k<> c{7};
    std::vector<double> const x{1, 2};
    level.tune(on, c, std::span<double const>(x), std::span<double const>(x));
    CHECK(c == top_k{1});
    level.moved(on, std::span<double const>(x));
    level.tune(on, c, std::span<double const>(x), std::span<double const>(x));
    CHECK(c == top_k{2});
}
