// SPDX-License-Identifier: Apache-2.0
// QSGD is DCGD with levels of the 2-norm, byte for byte, keeps its paper's counts, and stalls where DIANA goes on.
#include "laconic/method/qsgd.hpp"

#include "laconic/method/diana.hpp"
#include "support/test.hpp"
#include "support/toys.hpp"

using namespace laconic;
using namespace toys;

static_assert(Method<qsgd>);

TEST_CASE("it is dcgd with one 2-norm and its levels, byte for byte") {
    auto const f = random_ridges(3, 9, 1, 4);
    auto const p = constants(f);
    auto const a = history(composed(qsgd{4, {}}, p), f, vec(9, 1.0), 20);
    auto const b = history(composed(dcgd{quantize{4}}, p), f, vec(9, 1.0), 20);
    for (std::size_t k = 0; k <= 20; ++k) {
        CHECK(a[k].x == b[k].x);
        CHECK(a[k].bytes == b[k].bytes);
    }
    CHECK(a[1].bytes[0].size() == 8 + 5);         // a step, and 9 codes of 4 bits
    problem const by_hand{64, 4, 2, .1, 3, 2.5};  // omega = min(64 / (4 * 16), 8 / 4) = 1
    CHECK(composed(qsgd{4, {}}, by_hand).step.rate == doctest::Approx(1 / (2 + 2 * 3 / 4.)));
    CHECK(composed(qsgd{4, {.step = .25}}, problem{}).step.rate == .25);
}

TEST_CASE("the paper's numbers: at most s (s + sqrt d) numbers are not 0 on average, and what sqrt d levels cost") {
    host on;
    message_of<quantize> m;
    for (int const s : {1, 2, 4}) {
        vec x(100);
        for (std::size_t j = 0; j < 100; ++j) x[j] = 2 * key{3}.uniform(j) - 1;
        estimate const nonzero(200, [&](std::size_t seed) {
            quantize{s}(on, std::span<double const>(x), key{seed}, m);
            return double(std::count_if(m.codes.begin(), m.codes.end(), [](auto code) { return code != 0; }));
        });
        double sum = 0;  // sum_j min(1, s |x_j| / |x|), where no |x_j| is above |x| / s
        for (double const v : x) sum += std::min(1., s * std::abs(v) / std::sqrt(norm2(x)));
        CHECK(std::abs(nonzero.mean - sum) <= 5 * nonzero.error);
        CHECK(nonzero.mean <= s * (s + 10));
        CHECK(nonzero.mean > s * 10 / 2);
    }
    CHECK(quantize{10}.omega(100) <= 1);                             // E|Q|^2 <= 2 |x|^2
    CHECK(quantize{16, 512}.omega(1000000) <= std::sqrt(512) / 16);  // 1.41: buckets of 512, 4 bits
}

TEST_CASE("with a constant step it stalls where diana goes on") {
    auto const f = random_ridges(4, 6, 1, 9);
    auto const p = constants(f);
    known_optimum const best(f);
    lockstep stalls(composed(qsgd{4, {}}, p), f, vec(6, 1.0), 1);
    lockstep goes_on(composed(diana{quantize{4}}, p), f, vec(6, 1.0), 1);
    stalls.rounds(20000);
    goes_on.rounds(20000);
    double nearest = 1e300;
    for (int k = 0; k < 1000; ++k) {
        stalls.round();
        nearest = std::min(nearest, distance2(stalls.x(), best.x));
    }
    CHECK(distance2(goes_on.x(), best.x) < 1e-20);
    CHECK(nearest > 1e-10);
}

TEST_CASE("wrong arguments are refused with the reason, under its own name") {
    CHECK_THROWS_WITH_AS(composed(qsgd{}, problem{}), doctest::Contains("qsgd: its theorem needs"), theory_error);
    CHECK_THROWS_WITH_AS(composed(qsgd{4, {.step = 0.}}, problem{}), doctest::Contains("qsgd: the step 0"),
                         argument_error);
    auto const f = around({{3, 4}, {-1, -7}});
    CHECK_THROWS_WITH_AS(history(composed(qsgd{0, {.step = .1}}, f), f, vec{1, 1}, 1),
                         doctest::Contains("levels = 0 is outside"), argument_error);
}

TEST_CASE("its text has its arguments") {
    CHECK(to_string(qsgd{}) == "qsgd(levels=4)");
    CHECK(to_string(qsgd{8, {.step = step_size{1, true}}}) == "qsgd(levels=8, step=1/L)");
}
