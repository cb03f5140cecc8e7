// SPDX-License-Identifier: Apache-2.0
// Each level of quantize keeps the share and writes the bits stated, and best_level takes the best one.
#include "laconic/compress/quantizer_levels.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

static_assert(Levelled<damped_quantize> && Levelled<damped_quantize, float, reference>);

using family = levels<damped_quantize>;

using laws::kept_by_levels;
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
