// SPDX-License-Identifier: Apache-2.0
// Quantized GD-SEC keeps both what it rounds and what it holds back, and takes half the bytes of gd_sec.
#include "laconic/method/quantized_gd_sec.hpp"

#include "support/test.hpp"
#include "support/toys.hpp"

using namespace laconic;
using namespace toys;

static_assert(Method<quantized_gd_sec<>>);

TEST_CASE("what is not sent, for either reason, is kept: x - step mean e takes uncompressed steps") {
    auto const f = random_ridges(4, 6, 1, 5);
    auto const p = constants(f);
    auto const whole = mean_of(f);
    double const step = .5 / p.smoothness;
    lockstep run(composed(quantized_gd_sec{quantize{8}, 2, {.step = step}}, p), f, vec(6, 1.0), 1);
    auto const virtual_iterate = [&] {
        vec v = run.x();
        for (std::size_t i = 0; i < 4; ++i)
            for (std::size_t j = 0; j < run.residual(i).size(); ++j) v[j] -= step * run.residual(i)[j] / 4;
        return v;
    };
    std::size_t held_back = 0, rounded = 0;
    for (std::size_t k = 0; k < 60; ++k) {
        vec expected = virtual_iterate(), g(6);
        whole.gradient(run.x(), g);
        for (std::size_t j = 0; j < 6; ++j) expected[j] -= step * g[j];
        run.round();
        CHECK(std::sqrt(distance2(virtual_iterate(), expected)) < 1e-12);
        for (std::size_t i = 0; i < 4; ++i) {
            auto const& support = run.message_of_rank(i).support;
            held_back += 6 - support.size();
            for (auto const j : support) rounded += run.residual(i)[j] != 0;
        }
    }
    CHECK(held_back > 100);
    CHECK(rounded > 100);
}

TEST_CASE("it reaches the optimum, with fewer bytes than gd_sec") {
    auto const f = random_ridges(4, 12, 1, 5);
    auto const p = constants(f);
    known_optimum const best(f);
    auto const bytes_to_optimum = [&](auto const& recursion) {
        auto const states = history(recursion, f, vec(12, 0.0), 1500);
        std::size_t bytes = 0, k = 0;
        for (; k < 1500 && distance2(states[k].x[0], best.x) > 1e-12 * norm2(best.x); ++k)
            for (auto const& message : states[k + 1].bytes) bytes += message.size();
        CHECK(k < 1500);
        return bytes;
    };
    rates const half{.step = step_size{.5, true}};
    auto const in_full = bytes_to_optimum(composed(gd_sec{2, half}, p));
    auto const quantized = bytes_to_optimum(composed(quantized_gd_sec{quantize{16}, 2, half}, p));
    CHECK(2 * quantized < in_full);
}

TEST_CASE("its numbers by hand, and its text") {
    problem const p{8, 5, 4, .5, 9, 6};
    auto const r = quantized_gd_sec{quantize{4}, 100}.compose<double, host>(p);
    CHECK(r.step.rate == .25);
    CHECK(r.feedback.rate() == .01);
    CHECK(r.feedback.keeps_residual());
    CHECK(r.compressor.rest == quantize{4});
    CHECK(to_string(r.level) == "follow_last_move(400)");
    CHECK(to_string(r.estimator) == "the full gradient");
    CHECK(to_string(quantized_gd_sec{quantize{4}, 100}) == "quantized_gd_sec(quantize(4), xi=100, beta=0.01)");
    CHECK(to_string(quantized_gd_sec{quantize{4}, 1, {.step = .5, .memory = .5}}) ==
          "quantized_gd_sec(quantize(4), xi=1, beta=0.5, step=0.5)");
}

TEST_CASE("wrong arguments are refused with the reason") {
    problem const p{8, 5, 4, .5, 9, 6};
    CHECK_THROWS_WITH_AS((quantized_gd_sec{quantize{4}, -1}.compose<double, host>(p)),
                         doctest::Contains("quantized_gd_sec: xi = -1"), argument_error);
    CHECK_THROWS_WITH_AS((quantized_gd_sec{quantize{4}, 1, {.memory = -.1}}.compose<double, host>(p)),
                         doctest::Contains("beta = -0.1"), argument_error);
    CHECK_THROWS_AS((quantized_gd_sec{quantize{4}}.compose<double, host>(problem{})), theory_error);
    auto const f = around({{3, 4}, {-1, -7}});
    auto const no_levels = composed(quantized_gd_sec{quantize{0}, 1}, f);
    CHECK_THROWS_AS((lockstep{no_levels, f, vec{1, 1}, 1}), argument_error);
}
