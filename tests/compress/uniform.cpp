// SPDX-License-Identifier: Apache-2.0
// uniform rounds on a grid from the least to the largest number, with an omega and a delta that are attained.
#include "laconic/compress/uniform.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

using vec = std::vector<double>;
using nearest = uniform<rounding::nearest>;

static_assert(Compressor<uniform<>> && Compressor<uniform<>, float> && Unbiased<uniform<>> && !Contractive<uniform<>>);
static_assert(Compressor<uniform<rounding::nearest>> && Contractive<uniform<rounding::nearest>> &&
              !Unbiased<uniform<rounding::nearest>>);

using laws::sent_by;

static_assert(std::same_as<decltype(uniform{}), uniform<>> && std::same_as<decltype(uniform{8, 512}), uniform<>>);

// From -1 to 2 in three steps of 1; then from 5 to 6.5 in steps of a half.
TEST_CASE("by hand") {
    vec const x{2, -1, 0.75, 1, 6.5, 5, 5.25, 6};
    auto const m = laws::compress(nearest{2, 4}, x, key{});
    CHECK(m.least == vec{-1, 5});
    CHECK(m.steps == vec{1, 0.5});
    CHECK(m.codes == std::vector<std::uint8_t>{3, 0, 2, 2, 3, 0, 1, 2});
    CHECK(sent_by(nearest{2, 4}, x) == vec{2, -1, 1, 1, 6.5, 5, 5.5, 6});
    for (std::uint64_t k = 0; k < 20; ++k) {
        auto const v = sent_by(uniform{2, 4}, x, k);
        CHECK((v[2] == 0 || v[2] == 1));
        CHECK((v[6] == 5 || v[6] == 5.5));
        CHECK(vec{v[0], v[1], v[3], v[4], v[5], v[7]} == vec{2, -1, 1, 6.5, 5, 6});
    }
    CHECK(laws::moments_by_values(uniform{2, 4}, x).variance == doctest::Approx(0.75 * 0.25 + 0.25 * 0.25));
}

TEST_CASE_TEMPLATE("the least is exact, the largest up to rounding, and all where all are equal", T, float, double) {
    for (std::uint64_t k = 0; k < 300; ++k) {
        auto x = laws::noise<T>(9, k, 6);
        for (T& v : x) v /= 3;
        auto const [least, largest] = std::minmax_element(x.begin(), x.end());
        for (int const bits : {1, 3, 8}) {
            auto const v = sent_by(uniform{bits}, x, k);
            auto const at = [&](auto i) { return v[static_cast<std::size_t>(i - x.begin())]; };
            CHECK(at(least) == *least);
            CHECK(std::abs(at(largest) - *largest) <= 3 * std::numeric_limits<T>::epsilon() * (*largest - *least));
        }
    }
    for (T const v : {T(0.1), T(-7), T(0), std::numeric_limits<T>::max(), std::numeric_limits<T>::denorm_min()})
        for (std::size_t d : {1u, 2u, 70u}) {
            auto const m = laws::compress(uniform{3}, std::vector<T>(d, v), key{1});
            CHECK(m.steps == std::vector<T>{0});
            CHECK(m.codes == std::vector<std::uint8_t>(d, 0));
            CHECK(sent_by(uniform{3}, std::vector<T>(d, v)) == std::vector<T>(d, v));
        }
}

TEST_CASE("omega is attained by one number, its negative and zeros; one or two numbers are exact") {
    for (int const bits : {1, 2, 5, 8})
        for (std::size_t const d : {3u, 4u, 17u}) {
            vec x(d, 0.0);
            x[1] = 6;
            x[2] = -6;
            double const n = (1 << bits) - 1, omega = (static_cast<double>(d) - 2) / (2 * n * n);
            CHECK(uniform{bits}.omega(d) == doctest::Approx(omega).epsilon(1e-15));
            CHECK(laws::moments_by_values(uniform{bits}, x).variance == doctest::Approx(omega * 72).epsilon(1e-9));
            CHECK(laws::error_of(nearest{bits}, x) == doctest::Approx(omega * 72).epsilon(1e-9));
            if (omega < 1) CHECK(nearest{bits}.delta(d) == doctest::Approx(1 - omega).epsilon(1e-15));
        }
    for (std::size_t const d : {0u, 1u, 2u}) {
        CHECK(uniform{1}.omega(d) == 0);
        CHECK(nearest{1}.delta(d) == 1);
    }
    CHECK(uniform{3, 10}.omega(1000) == uniform{3}.omega(10));
    CHECK(uniform{3, 1000}.omega(10) == uniform{3}.omega(10));
    CHECK(sent_by(uniform{1}, vec{0.5, -0.75}) == vec{0.5, -0.75});
}

TEST_CASE("omega is nowhere passed") {
    double tightest = 0;
    for (std::uint64_t k = 0; k < 300; ++k) {
        auto const d = static_cast<std::size_t>(3 + key{k}.below(0, 12));
        auto const x = laws::noise<double>(d, k, static_cast<int>(k % 3));
        uniform const c{1 + static_cast<int>(k % 4)};
        auto const m = laws::compress(c, x, key{k});
        double variance = 0;
        for (std::size_t i = 0; i < d; ++i) {
            double const on_grid = (x[i] - m.least[0]) / m.steps[0], above = on_grid - std::floor(on_grid);
            CHECK((m.codes[i] == std::floor(on_grid) || m.codes[i] == std::ceil(on_grid)));
            variance += above * (1 - above) * m.steps[0] * m.steps[0];
        }
        CHECK(variance <= c.omega(d) * laws::energy(x) * (1 + 1e-9));
        tightest = std::max(tightest, variance / laws::energy(x) / c.omega(d));
    }
    CHECK(tightest > 0.5);
}

TEST_CASE("no delta where the bound reaches 1") {
    CHECK_THROWS_WITH_AS(
        nearest{1}.delta(4),
        "uniform(1, rounding=nearest) may lose 1 >= 1 of the energy of 4 values, so it is not contractive: "
        "take more bits or smaller buckets",
        theory_error);
    CHECK_THROWS_AS((top_k{0.5} | nearest{2}).delta(100), theory_error);
    CHECK(nearest{1, 3}.delta(1000) == 0.5);
}

TEST_CASE("what is not finite or too far apart is refused") {
    double const max = std::numeric_limits<double>::max();
    float const top = std::numeric_limits<float>::max();
    CHECK_THROWS_AS(sent_by(uniform{}, vec{max, -max}), argument_error);
    CHECK_THROWS_AS(sent_by(nearest{}, std::vector<float>{top, -top}), argument_error);
    CHECK(sent_by(uniform{1, 1}, vec{max, -max}) == vec{max, -max});
    CHECK(sent_by(uniform{2}, vec{0, 0x1.8p1023})[1] == 0x1.8p1023);
    for (double const bad : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
        CHECK_THROWS_WITH_AS(laws::unchecked(uniform{}, vec{0, 1, bad}), "uniform: coordinate 2 is not finite",
                             argument_error);
    // A range as wide as T, in 1 .. 255 steps: refused where the last is beyond it, else finite.
    for (int bits = 1; bits <= 8; ++bits) try {
            for (float const v : sent_by(uniform{bits}, std::vector<float>{top, 0, -1})) REQUIRE(std::isfinite(v));
        } catch (argument_error const&) {
        }
}

TEST_CASE_TEMPLATE("unbiased on a grid of subnormal numbers, and far from 0", T, float, double) {
    T const tiny = std::numeric_limits<T>::denorm_min();
    for (int const bits : {1, 2, 8})
        laws::has_mean_in_units(uniform{bits}, std::vector<T>{5 * tiny, -3 * tiny, tiny, 0}, tiny, 10000);
    laws::has_mean(uniform{2}, std::vector<T>{1000, 1001, T(1000.25), T(1000.5)}, key{5}, 10000);
}

TEST_CASE("parameters are checked, and written where they differ from the default") {
    for (int const bad : {0, -1, 9, std::numeric_limits<int>::min()}) {
        CHECK_THROWS_AS(uniform{bad}.check(5), argument_error);
        CHECK_THROWS_AS(nearest{bad}.check(5), argument_error);
    }
    CHECK_NOTHROW(uniform{1}.check(5));
    CHECK(to_string(uniform{}) == "uniform(8)");
    CHECK(to_string(uniform{8, 512}) == "uniform(8, bucket=512)");
    CHECK(to_string(nearest{8, 512}) == "uniform(8, bucket=512, rounding=nearest)");
    CHECK(to_string(nearest{4}) == "uniform(4, rounding=nearest)");
    CHECK(compress(uniform{4, std::numeric_limits<std::size_t>::max()}, vec{1, 2, 3}, key{}).codes ==
          laws::compress(uniform{4}, vec{1, 2, 3}, key{}).codes);
}
