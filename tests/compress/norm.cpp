// SPDX-License-Identifier: Apache-2.0
#include "laconic/compress/norm.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "laconic/backend/host.hpp"
#include "laws/compressor.hpp"

using namespace laconic;

namespace {

template <class T>
T of(norm p, std::vector<T> const& x) {
    host on;
    return norm_of(on, p, std::span<T const>(x));
}

}  // namespace

TEST_CASE_TEMPLATE("numbers that a reader can check", T, float, double) {
    std::vector<T> const x{3, -4, 12, 0};
    CHECK(of(norm::one, x) == 19);
    CHECK(of(norm::two, x) == 13);
    CHECK(of(norm::largest, x) == 12);
    for (norm p : {norm::one, norm::two, norm::largest}) {
        CHECK(of(p, std::vector<T>{}) == 0);
        CHECK(of(p, std::vector<T>(5, T(-0.0))) == 0);
        CHECK(of(p, std::vector<T>{T(-0.1)}) == T(0.1));
    }
}

TEST_CASE("squares out of a double's range") {
    CHECK(of<double>(norm::two, {3e200, -4e200}) == doctest::Approx(5e200).epsilon(1e-15));
    CHECK(of<double>(norm::two, {3e-200, -4e-200}) == doctest::Approx(5e-200).epsilon(1e-15));
    CHECK(of<float>(norm::two, {3e-30f, -4e-30f}) == doctest::Approx(5e-30));
    double const max = std::numeric_limits<double>::max(), tiny = std::numeric_limits<double>::denorm_min();
    CHECK(std::isinf(of<double>(norm::two, {max, max})));
    CHECK(of<double>(norm::largest, {max, -max}) == max);
    CHECK(of<double>(norm::two, {0, 3 * tiny}) == 3 * tiny);
}

TEST_CASE_TEMPLATE("what is not finite is not hidden, not among zeros either", T, float, double) {
    using limits = std::numeric_limits<T>;
    for (norm p : {norm::one, norm::two, norm::largest})
        for (T const bad : {limits::infinity(), -limits::infinity(), limits::quiet_NaN()})
            for (std::size_t d : {1u, 2u, 20u, 33u})
                for (std::size_t i : {std::size_t{0}, d / 2, d - 1})
                    for (T const rest : {T(0), T(3)}) {
                        std::vector<T> x(d, rest);
                        x[i] = bad;
                        CHECK_FALSE(std::isfinite(of(p, x)));
                    }
}

TEST_CASE("the norm is at least the largest magnitude, and the ratio is a bound that is attained") {
    for (std::uint64_t k = 0; k < 200; ++k) {
        auto const x = laws::noise<float>(1 + k % 9, k, 3);
        double const square = laws::energy(x), sum = static_cast<double>(of(norm::one, x));
        if (square == 0) continue;
        for (norm p : {norm::one, norm::two, norm::largest}) {
            CHECK(of(p, x) >= of(norm::largest, x));
            CHECK(static_cast<double>(of(p, x)) * sum <=
                  norm_ratio(p, static_cast<double>(x.size())) * square * (1 + 1e-6));
        }
    }
    std::vector<double> const equal(16, -2.0);
    CHECK(of(norm::one, equal) * 32 == norm_ratio(norm::one, 16) * 64);
    CHECK(of(norm::two, equal) * 32 == norm_ratio(norm::two, 16) * 64);
    std::vector<double> worst(16, 0.2);  // 1 / (1 + sqrt 16)
    worst[5] = 1;
    CHECK(of(norm::one, worst) == doctest::Approx(norm_ratio(norm::largest, 16) * laws::energy(worst)).epsilon(1e-14));
}

TEST_CASE("which are norms") {
    CHECK((is_norm(norm::one) && is_norm(norm::two) && is_norm(norm::largest)));
    CHECK((!is_norm(norm(0)) && !is_norm(norm(4))));
}
