// SPDX-License-Identifier: Apache-2.0
// Each level keeps the share and takes the bits that levels states, by hand and on both backends.
#include "laconic/compress/levels.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

static_assert(Levelled<top_k<>> && Levelled<top_k<scaled_sign>, float> && Levelled<top_blocks<>, double, reference>);
static_assert(!Levelled<rand_k<>> && !Levelled<rand_k<natural>, float>);  // nothing is chosen for a vector

using laws::kept_by_levels;
using laws::share_kept;

template <class T, class C>
void keeps_what_it_promises(C const& c, std::vector<T> const& x) {
    auto const q = kept_by_levels(c, x), defined = kept_by_levels<reference>(c, x);
    REQUIRE(q.size() == defined.size());
    for (std::size_t level = 1; level <= q.size(); ++level) {
        CAPTURE(level);
        auto const chosen = levels<C>::at(c, level, x.size());
        CHECK(share_kept(chosen, x) == doctest::Approx(q[level - 1]).epsilon(1e-6));
        CHECK(q[level - 1] == doctest::Approx(defined[level - 1]).epsilon(1e-14));
        CHECK(bits_as_paper(compress(chosen, x, key{1})) <= levels<C>::template bits<T>(c, level, x.size()));
    }
}

void equal(std::vector<double> const& q, std::vector<double> const& known) {
    REQUIRE(q.size() == known.size());
    for (std::size_t j = 0; j < q.size(); ++j) CHECK(q[j] == doctest::Approx(known[j]).epsilon(1e-14));
}

TEST_CASE_TEMPLATE("what each level keeps of (3, -4, 1, -2), by hand", T, float, double) {
    std::vector<T> const x{3, -4, 1, -2};
    equal(kept_by_levels(top_k{1}, x), {16. / 30, 25. / 30, 29. / 30, 1});
    equal(kept_by_levels(top_k{1} | scaled_sign{}, x), {16. / 30, 49. / 60, 81. / 90, 100. / 120});
    equal(kept_by_levels(top_blocks{1, 1}, x), {16. / 30, 25. / 30, 29. / 30, 1});
    equal(kept_by_levels(top_blocks{1, 2}, x), {25. / 30, 1});
    equal(kept_by_levels(top_blocks{1, 3}, x), {26. / 30, 1});
    equal(kept_by_levels(top_blocks{1, 100}, x), {1});
}

TEST_CASE_TEMPLATE("and in expectation of proportional: the share of proportion_for", T, float, double) {
    equal(kept_by_levels(proportional<identity, true>{}, std::vector<T>{3, -4, 1, -2}), {.3, .6, 15. / 17, 1});
    for (auto x : laws::theory_vectors<T>()) {
        auto const q = kept_by_levels(proportional<identity, true>{}, x),
                   defined = kept_by_levels<reference>(proportional<identity, true>{}, x);
        for (T& v : x) v = std::abs(v);
        std::sort(x.begin(), x.end(), std::greater<>{});
        for (std::size_t k = 1; k <= x.size(); ++k) {
            CHECK(q[k - 1] == doctest::Approx(detail::proportion_for(std::span<T const>(x), k).share).epsilon(1e-12));
            CHECK(q[k - 1] == doctest::Approx(defined[k - 1]).epsilon(1e-14));
        }
    }
}

TEST_CASE("what each level takes, as papers count it") {
    CHECK(levels<top_k<>>::bits<float>({}, 97, 1024) == 97 * (10 + 32));
    CHECK(levels<top_k<>>::bits<double>({}, 3, 5) == 3 * (3 + 64));
    CHECK(levels<top_k<scaled_sign>>::bits<float>({}, 97, 1024) == 32 + 97 * (10 + 1));
    CHECK(levels<top_k<scaled_sign>>::bits<float>({1, {50}}, 97, 1024) == 2 * 32 + 97 * (10 + 1));
    CHECK(levels<top_blocks<>>::bits<float>({1, 100}, 3, 1024) == 3 * (4 + 100 * 32));
    CHECK(levels<top_blocks<>>::bits<double>({1, 100}, 1, 7) == 7 * 64);
}

TEST_CASE_TEMPLATE("every level keeps what its curve has, on both backends, and takes no more bits", T, float, double) {
    for (auto const& x : laws::theory_vectors<T>()) {
        keeps_what_it_promises(top_k{1}, x);
        keeps_what_it_promises(top_k{1} | scaled_sign{}, x);
        keeps_what_it_promises(top_blocks{1, 3}, x);
    }
}

TEST_CASE("signs in buckets keep no less than the curve has, and often more") {
    double most = 0;
    for (auto const& x : laws::theory_vectors<double>()) {
        auto const c = top_k{1} | scaled_sign{3};
        auto const q = kept_by_levels(c, x);
        for (std::size_t k = 1; k <= x.size(); ++k) {
            double const kept = share_kept(levels<top_k<scaled_sign>>::at(c, k, x.size()), x);
            CHECK(kept >= q[k - 1] * (1 - 1e-12));
            most = std::max(most, kept / q[k - 1]);
            CHECK(bits_as_paper(compress(levels<top_k<scaled_sign>>::at(c, k, x.size()), x, key{1})) ==
                  levels<top_k<scaled_sign>>::bits<double>(c, k, x.size()));
        }
    }
    CHECK(most > 1.1);
}

TEST_CASE("signs of one, of nine and of all of (10, 1, ..., 1): what they keep falls and rises again") {
    std::vector<double> x(200, 1.0);
    x[0] = 10;
    auto const q = kept_by_levels(top_k{1} | scaled_sign{}, x);
    CHECK(q[0] == doctest::Approx(100. / 299));
    CHECK(q[8] == doctest::Approx(18. * 18 / (9 * 299)));
    CHECK(q[199] == doctest::Approx(209. * 209 / (200 * 299)));
    CHECK(*std::min_element(q.begin(), q.end()) == q[8]);
}

TEST_CASE_TEMPLATE("numbers whose squares are out of range", T, float, double) {
    T const largest = std::numeric_limits<T>::max(), tiny = std::numeric_limits<T>::denorm_min();
    for (auto const& x : {std::vector<T>{largest, -largest / 2}, std::vector<T>{-2 * tiny, tiny}}) {
        equal(kept_by_levels(top_k{1}, x), {.8, 1});
        equal(kept_by_levels(top_k{1} | scaled_sign{}, x), {.8, .9});
        equal(kept_by_levels(top_blocks{1, 1}, x), {.8, 1});
    }
}

TEST_CASE("how many levels there are, each, and the family's name") {
    CHECK(levels<top_k<>>::count({}, 7) == 7);
    CHECK(levels<top_k<scaled_sign>>::count({}, 0) == 0);
    CHECK(levels<top_blocks<>>::count({1, 4}, 7) == 2);
    CHECK(levels<top_blocks<>>::count({1, 4}, 0) == 0);
    CHECK(levels<top_k<>>::at(top_k{9}, 3, 9) == top_k{3});
    CHECK(levels<top_k<scaled_sign>>::at(top_k{9} | scaled_sign{4}, 3, 9) == (top_k{3} | scaled_sign{4}));
    CHECK(levels<top_blocks<>>::at(top_blocks{9, 4}, 3, 36) == top_blocks{3, 4});
    CHECK(levels<top_k<>>::family(top_k{9}) == "top_k");
    CHECK(levels<top_k<scaled_sign>>::family(top_k{9} | scaled_sign{4}) == "top_k | scaled_sign(bucket=4)");
    CHECK(levels<top_blocks<>>::family(top_blocks{9, 4}) == "top_blocks(block=4)");
}

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
