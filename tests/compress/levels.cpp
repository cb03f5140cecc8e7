// SPDX-License-Identifier: Apache-2.0
// Each level keeps the share and takes the bits that levels states, by hand and on both backends.
// Each level of quantize keeps the share and writes the bits stated, and best_level takes the best one.
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
    CHECK(levels<top_k<scaled_sign>>::bits<float>({1, 0, {50}}, 97, 1024) == 2 * 32 + 97 * (10 + 1));
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

static_assert(Levelled<damped_quantize> && Levelled<damped_quantize, float, reference>);

using family = levels<damped_quantize>;

using laws::mean_error;

// The share from the definition: of each bucket |x|^2 / E|Q(x)|^2 of its squares are kept.
template <class T>
double share_kept(damped_quantize const& c, int points, std::vector<T> const& x) {
    double all = 0, sum = 0;
    std::size_t const bucket = c.bucket == 0 ? x.size() : c.bucket;
    for (std::size_t first = 0; first < x.size(); first += bucket) {
        double one = 0, two = 0, largest = 0;
        auto const end = std::min(x.size(), first + bucket);
        for (std::size_t i = first; i < end; ++i) {
            double const v = std::abs(double(x[i]));
            one += v;
            two += v * v;
            largest = std::max(largest, v);
        }
        if (!(largest > 0)) continue;
        double const norm_of_bucket = c.p == p_norm::one ? one : c.p == p_norm::two ? std::sqrt(two) : largest;
        double const step = norm_of_bucket / points;
        double variance = 0;
        for (std::size_t i = first; i < end; ++i) {
            double const t = std::abs(double(x[i])) / step, r = t - std::floor(t);
            variance += step * step * r * (1 - r);
        }
        all += two;
        sum += two * two / (two + variance);
    }
    return sum / all;
}

std::vector<damped_quantize> kinds() {
    return {{}, {1, 5}, {1, 0, p_norm::largest}, {1, 4, p_norm::largest}, {1, 0, p_norm::one}};
}

// |(3, 4)| = 5: on grids of 1, 3 and 7 points the variances are .4 steps^2 each, of 1, 9 and 49 steps^2.
TEST_CASE_TEMPLATE("by hand: what is kept of (3, 4)", T, float, double) {
    auto const q = kept_by_levels(damped_quantize{}, std::vector<T>{3, -4});
    CHECK(q[0] == doctest::Approx(1 / 1.4));
    CHECK(q[1] == doctest::Approx(9 / 9.4));
    CHECK(q[2] == doctest::Approx(49 / 49.4));
    for (double const v : kept_by_levels(damped_quantize{1, 1}, std::vector<T>{3, 0, -4}))
        CHECK(v == doctest::Approx(1));
    // (1, 0) is on its grid; (1, 1) on that of its largest, but of |(1, 1)| only 1 / sqrt 2 is kept.
    std::vector<T> const x{1, 0, 1, 1};
    CHECK(kept_by_levels(damped_quantize{1, 2}, x)[0] == doctest::Approx((1 + 2 / std::sqrt(2.)) / 3));
    CHECK(kept_by_levels(damped_quantize{1, 2, p_norm::largest}, x)[0] == 1);
}

TEST_CASE_TEMPLATE("every level keeps what its curve has, by its definition, on average, on both backends", T, float,
                   double) {
    for (auto const& c : kinds())
        for (auto const& x : laws::theory_vectors<T>()) {
            auto const q = kept_by_levels(c, x);
            CHECK(q == kept_by_levels<reference>(c, x));
            for (std::size_t level = 1; level <= 15; ++level)
                CHECK(q[level - 1] ==
                      doctest::Approx(share_kept(c, (1 << level) - 1, x)).epsilon(sizeof(T) == 4 ? 1e-5 : 1e-11));
            for (std::size_t const level : {1u, 3u})
                CHECK(mean_error(family::at(c, level, x.size()), x, 300) ==
                      doctest::Approx(1 - q[level - 1]).epsilon(.2).scale(1e-6));
        }
}

TEST_CASE_TEMPLATE("each level writes as many bits as its family has, and papers count no more", T, float, double) {
    for (std::size_t d : {1u, 4u, 7u, 25u, 63u})
        for (auto const& c : kinds()) {
            std::vector<T> const x(d, T(.5));
            for (std::size_t level = 1; level <= family::count(c, d); ++level) {
                auto const m = laconic::compress(family::at(c, level, d), x, key{1});
                double const expected = family::bits<T>(c, level, d), as_papers = bits_as_paper(m);
                CHECK(double(bits(m)) == 8 * std::ceil(expected / 8));
                CHECK(expected >= as_papers);
                if (level > 1) CHECK(expected <= 1.07 * as_papers);
            }
        }
}

TEST_CASE_TEMPLATE("the level is the best of all, whatever the cost", T, float, double) {
    host on;
    for (auto const& cost : {message_cost{}, affine_cost(1, 500), affine_cost(0, 1), packet_cost(20, 4, 10)})
        for (auto const& c : kinds())
            for (auto const& x : laws::theory_vectors<T>()) {
                best_level const best{c, cost};
                typename decltype(best)::template memory_for<T> work;
                auto const chosen = best.level_for(on, std::span<T const>(x), work);
                auto const worth = [&](std::size_t level) {
                    return share_kept(c, (1 << level) - 1, x) / cost(family::bits<T>(c, level, x.size()));
                };
                for (std::size_t level = 1; level <= 15; ++level)
                    CHECK(worth(level) <= worth(chosen) * (1 + (sizeof(T) == 4 ? 1e-5 : 1e-11)));
            }
}

// f = sum c_j x_j^2 / 2, and a step of 1 / L: E f(x+) <= f(x) - q |g|^2 / (2 L), and so it is where all c_j are L.
TEST_CASE("the descent lemma with the level that is chosen, on average over keys") {
    for (bool const round : {true, false}) {
        std::vector<double> x(12), c(12), g(12);
        for (std::size_t j = 0; j < 12; ++j) {
            x[j] = key{4}.uniform(j) - .4;
            c[j] = round ? 3 : .5 + 2.5 * key{5}.uniform(j);
            g[j] = c[j] * x[j];
        }
        auto const value = [&](auto const& at) {
            double sum = 0;
            for (std::size_t j = 0; j < 12; ++j) sum += c[j] * at[j] * at[j] / 2;
            return sum;
        };
        best_level const best{damped_quantize{1, 4}, affine_cost(1, 64)};
        double sum = 0, squares = 0, q = 0;
        std::uint64_t const runs = 4000;
        for (std::uint64_t r = 0; r < runs; ++r) {
            auto const m = laconic::compress(best, g, key{r});
            auto const sent = laws::decoded<decltype(m), double>(m);
            auto next = x;
            for (std::size_t j = 0; j < 12; ++j) next[j] -= sent[j] / 3;
            double const fall = value(x) - value(next);
            sum += fall / runs;
            squares += fall * fall / runs;
            q = kept_by_levels(best.compressor, g)[m.level - 1];
        }
        double const error = std::sqrt((squares - sum * sum) / runs), lemma = q * laws::energy(g) / 6;
        CHECK(q < .999);
        CHECK(error < .02 * lemma);
        CHECK(sum >= lemma - 5 * error);
        if (round) CHECK(sum <= lemma + 5 * error);
    }
}

TEST_CASE("best_level of it has its delta") {
    best_level const c{damped_quantize{1, 4}};
    CHECK(c.delta(100) == damped_quantize{1, 4}.delta(100));
}

TEST_CASE_TEMPLATE("numbers out of range have levels; what is not finite is refused", T, float, double) {
    host on;
    best_level const c{damped_quantize{}, affine_cost(1, 500)};
    detail::message_of<decltype(c), T> m;
    auto const level = [&](std::vector<T> const& x) {
        c(on, std::span<T const>(x), key{1}, m);
        return m.level;
    };
    T const largest = std::numeric_limits<T>::max();
    auto const usual = level({4, -2, 1, 3});
    CHECK(usual > 1);
    CHECK(level({largest / 4, -largest / 8, largest / 16, largest * T(.1875)}) == usual);
    T const tiny = std::numeric_limits<T>::min();
    CHECK(level({tiny * 4, -tiny * 2, tiny, tiny * 3}) == usual);
    CHECK(level({}) == 0);
    CHECK(level({0, 0, 0}) == 1);
    for (T const bad : {T(NAN), T(HUGE_VAL), T(-HUGE_VAL)}) CHECK_THROWS_AS(level({1, bad, 2}), argument_error);
    CHECK_THROWS_AS(level({largest, largest, largest}), argument_error);  // their norm is beyond T
    // Buckets of which one is as nothing to the other.
    for (double const v : kept_by_levels(damped_quantize{1, 2}, std::vector<T>{largest / 4, largest / 8, tiny, tiny}))
        CHECK((v > .5 && v <= 1));
}

TEST_CASE("how many levels there are, each, and the family's name") {
    CHECK(family::count({}, 0) == 0);
    CHECK(family::count({}, 9) == 15);
    CHECK(family::at({9, 4, p_norm::one}, 1, 9) == damped_quantize{1, 4, p_norm::one});
    CHECK(family::at({}, 15, 9).levels == 32767);
    CHECK(family::at({}, 0, 0).levels == 1);  // for no numbers, and still a grid
    CHECK_NOTHROW(best_level{damped_quantize{}}.check(0));
    CHECK(family::family({}) == "quantize");
    CHECK(family::family({3, 16}) == "quantize(bucket=16)");
    CHECK(family::family({3, 0, p_norm::largest}) == "quantize(p=inf)");
    CHECK(family::family({3, 16, p_norm::one}) == "quantize(bucket=16, p=1)");
}
