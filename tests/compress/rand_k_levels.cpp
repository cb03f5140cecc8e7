// SPDX-License-Identifier: Apache-2.0
// Each level of rand_k writes exactly the bits stated, alone and before natural.
#include "laconic/compress/rand_k_levels.hpp"

#include "support/everything.hpp"

using namespace laconic;

static_assert(!Levelled<rand_k<>> && !Levelled<rand_k<natural>, float>);  // nothing is chosen for a vector

namespace {

template <class T, class C>
void writes_what_is_said(C const& all) {
    std::vector<T> const x{3, -4, 1, -2, .5, 7, 0, -.25, 9, 1e-3f, 5};
    REQUIRE(levels<C>::count(all, x.size()) == x.size());
    for (std::size_t k = 1; k <= x.size(); ++k) {
        auto const c = levels<C>::at(all, k, x.size());
        CHECK(c.k == portion{k});
        CHECK(levels<C>::template bits<T>(all, k, x.size()) == double(bits(compress(c, x, key{k}))));
    }
}

}  // namespace

TEST_CASE_TEMPLATE("each level writes as many bits as its family has", T, float, double) {
    writes_what_is_said<T>(rand_k{1});
    writes_what_is_said<T>(rand_k{1} | natural{});
}

TEST_CASE("the bits of five: in full, and of nine or twelve each, in whole bytes") {
    CHECK(levels<rand_k<>>::bits<float>({}, 5, 100) == 160);
    CHECK(levels<rand_k<>>::bits<double>({}, 5, 100) == 320);
    CHECK(levels<rand_k<natural>>::bits<float>({}, 5, 100) == 48);
    CHECK(levels<rand_k<natural>>::bits<double>({}, 5, 100) == 64);
}

TEST_CASE("how many there are, and the family's name") {
    CHECK(levels<rand_k<>>::count({}, 0) == 0);
    CHECK(levels<rand_k<>>::family(rand_k{9}) == "rand_k");
    CHECK(levels<rand_k<natural>>::family(rand_k{9} | natural{}) == "rand_k | natural");
}
