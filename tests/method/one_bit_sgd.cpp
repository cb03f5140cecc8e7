// SPDX-License-Identifier: Apache-2.0
// 1-bit SGD is EF-SGD with two_means, byte for byte, and reaches a common optimum.
#include "laconic/method/one_bit_sgd.hpp"

#include "support/test.hpp"
#include "support/toys.hpp"

using namespace laconic;
using namespace toys;

static_assert(Method<one_bit_sgd>);

TEST_CASE("it is ef_sgd with two_means, byte for byte, and a bit a number") {
    auto const f = random_ridges(3, 9, 1, 4);
    auto const p = constants(f);
    auto const a = history(composed(one_bit_sgd{}, p), f, vec(9, 1.0), 20);
    auto const b = history(composed(ef_sgd{two_means{}}, p), f, vec(9, 1.0), 20);
    for (std::size_t k = 0; k <= 20; ++k) {
        CHECK(a[k].x == b[k].x);
        CHECK(a[k].bytes == b[k].bytes);
    }
    CHECK(a[1].bytes[0].size() == 16 + 2);
}

TEST_CASE("with a step of the order of 1 / L it finds the optimum of workers that agree on it") {
    auto const f = beznosikov();
    lockstep run(composed(one_bit_sgd{0, {.step = .01}}, f), f, vec(3, 1.0), 1);
    run.rounds(2000);
    CHECK(norm2(run.x()) < 1e-18);
}

TEST_CASE("its step, wrong arguments refused with the reason, and its text") {
    problem const p{8, 5, 4, .5, 9, 6};
    CHECK(composed(one_bit_sgd{4}, p).scale == composed(ef_sgd{two_means{4}}, p).scale);
    CHECK_THROWS_WITH_AS(composed(one_bit_sgd{}, problem{}), doctest::Contains("one_bit_sgd: "), theory_error);
    CHECK_THROWS_AS(composed(one_bit_sgd{0, {.batch = 4}}, p), theory_error);
    CHECK_THROWS_AS(composed(one_bit_sgd{0, {.memory = .5}}, p), argument_error);
    CHECK(to_string(one_bit_sgd{}) == "one_bit_sgd");
    CHECK(to_string(one_bit_sgd{512, {.step = .1}}) == "one_bit_sgd(bucket=512, step=0.1)");
}
