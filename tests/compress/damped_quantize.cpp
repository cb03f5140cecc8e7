// SPDX-License-Identifier: Apache-2.0
// damped_quantize is contractive with a delta that is reached, and loses no more than scaled_down.
#include "laconic/compress/damped_quantize.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

static_assert(Compressor<damped_quantize> && Compressor<damped_quantize, float>);
static_assert(Contractive<damped_quantize> && !Unbiased<damped_quantize>);

using laws::mean_error;

// |(3, 4)| = 5: two levels, a step of 2.5. 3 is 1.2 steps and 4 is 1.6: variances of .16 and .24 steps^2, 2.5 in all,
// so that a factor of 25 / 27.5 is best, and 1/11 of |x|^2 is lost.
TEST_CASE_TEMPLATE("by hand: 3 and 4 at two levels", T, float, double) {
    std::vector<T> const x{3, 4};
    auto const m = compress(damped_quantize{2}, x, key{1});
    CHECK(double(m.steps[0]) == doctest::Approx(2.5 * 10 / 11));
    CHECK(m.codes == compress(quantize{2}, x, key{1}).codes);
    CHECK(mean_error(damped_quantize{2}, x, 4000) == doctest::Approx(1. / 11).epsilon(.05));
    std::vector<T> const on_grid{3, -3, 0};
    CHECK(laws::received(damped_quantize{1, 0, p_norm::largest}, on_grid, key{1}) == on_grid);
}

TEST_CASE_TEMPLATE("its delta holds, is reached where all are equal, and scaled_down keeps no more", T, float, double) {
    double gained = 0;
    for (auto const& x : laws::theory_vectors<T>())
        for (auto const& q :
             {quantize{1}, quantize{3, 4}, quantize{1, 0, p_norm::largest}, quantize{7, 5, p_norm::one}}) {
            damped_quantize const c{q.levels, q.bucket, q.p};
            CHECK(c.delta(x.size()) == 1 / (1 + q.omega(x.size())));
            double const error = mean_error(c, x, 400), scaled = mean_error(scaled_down{q}, x, 400);
            CHECK(error <= (1 - c.delta(x.size())) * 1.2 + 1e-6);
            CHECK(error <= scaled * 1.2 + 1e-6);
            gained = std::max(gained, scaled - error);
        }
    CHECK(gained > .2);
    std::vector<T> const equal(16, T(-1.5));
    damped_quantize const c{};
    CHECK(c.delta(16) == 1. / 4);
    CHECK(mean_error(c, equal, 2000) == doctest::Approx(1 - 1. / 4).epsilon(.02));
}

TEST_CASE_TEMPLATE("numbers out of range, and what is refused", T, float, double) {
    T const tiny = std::numeric_limits<T>::min(), huge = std::numeric_limits<T>::max() / 4;
    for (T const unit : {tiny, huge}) {
        std::vector<T> const x{unit, unit / 2, -unit};
        auto const m = compress(damped_quantize{3}, x, key{1});
        CHECK(double(m.steps[0] / unit) ==
              doctest::Approx(double(compress(damped_quantize{3}, std::vector<T>{1, .5, -1}, key{1}).steps[0])));
    }
    CHECK(laws::received(damped_quantize{}, std::vector<T>(5), key{1}) == std::vector<T>(5));
    for (int const levels : {0, -1, 32768})
        CHECK_THROWS_AS(compress(damped_quantize{levels}, std::vector<T>{1}, key{1}), argument_error);
    for (T const bad : {T(NAN), T(HUGE_VAL), T(-HUGE_VAL)})
        CHECK_THROWS_AS(laws::unchecked(damped_quantize{}, std::vector<T>{1, bad, 2}), argument_error);
    CHECK_THROWS_AS(laws::unchecked(damped_quantize{}, std::vector<T>(3, std::numeric_limits<T>::max())),
                    argument_error);
}

TEST_CASE("as it is written") {
    CHECK(to_string(damped_quantize{7}) == "quantize(7, damped=yes)");
    CHECK(to_string(damped_quantize{7, 5, p_norm::largest}) == "quantize(7, bucket=5, p=inf, damped=yes)");
}

TEST_CASE("from the first message on there is room for codes of either width") {
    host on;
    auto const x = laws::noise<float>(100, 3);
    messages::quantized<float, host> m;
    damped_quantize{7}(on, std::span<float const>(x), key{1}, m);
    CHECK((m.codes.size() == 100 && m.wide_codes.empty()));
    auto const* const narrow = m.codes.data();
    CHECK(m.wide_codes.capacity() >= 100);
    damped_quantize{1000}(on, std::span<float const>(x), key{2}, m);
    CHECK((m.codes.empty() && m.wide_codes.size() == 100));
    auto const* const wide = m.wide_codes.data();
    damped_quantize{7}(on, std::span<float const>(x), key{3}, m);
    CHECK(m.codes.data() == narrow);
    damped_quantize{128}(on, std::span<float const>(x), key{4}, m);
    CHECK(m.wide_codes.data() == wide);
}
