// SPDX-License-Identifier: Apache-2.0
// IBGD, in which one worker in n sends on average, falls at the rate of its theorem, which bowls attain.
#include "laconic/method/ibgd.hpp"

#include "support/real_data.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace toys;

static_assert(Method<ibgd>);

namespace {

// E|x+|^2 over all coins of n workers, exactly, by the library's own keys: 2^n outcomes and their probabilities.
double expected_square(ibgd const& method, double tau, workers const& f, vec const& x) {
    auto const r = method.compose<double, host>(constants(f));
    std::size_t const n = f.size();
    std::vector<bool> seen(std::size_t{1} << n);
    std::size_t found = 0;
    double mean = 0;
    for (std::uint64_t seed = 0; found < seen.size(); ++seed) {
        lockstep run(r, f, x, seed);
        run.round();
        std::size_t coins = 0;
        double probability = 1;
        for (std::size_t i = 0; i < n; ++i) {
            bool const sends = run.message_of_rank(i).inside.support.size() > 0;
            coins |= std::size_t{sends} << i;
            probability *= sends ? tau : 1 - tau;
        }
        if (seen[coins]) continue;
        seen[coins] = true;
        ++found;
        mean += probability * norm2(run.x());
    }
    return mean;
}

}  // namespace

TEST_CASE("the theorem over all coins; bowls attain it") {
    for (double const tau : {.25, .5}) {
        CAPTURE(tau);
        auto const bowls = around(std::vector<vec>(4, vec(2, 0.0)));
        vec const x{3, -1};
        double const step = ibgd{tau}.compose<double, host>(constants(bowls)).step.rate;
        CHECK(step == doctest::Approx(4 / (4 * tau + 1 - tau)));
        CHECK(expected_square(ibgd{tau}, tau, bowls, x) / 10 == doctest::Approx(1 - step * tau).epsilon(1e-7));

        auto f = random_ridges(4, 5, 1, 3);
        for (auto& each : f) each.b.setZero();
        auto const p = constants(f);
        double const its = ibgd{tau}.compose<double, host>(p).step.rate;
        vec const y{1, -2, .5, 3, -.1};
        CHECK(expected_square(ibgd{tau}, tau, f, y) <= (1 - its * tau * p.strong_convexity) * norm2(y));
    }
}

TEST_CASE("real data: the theorem along a run, for workers made to agree") {
    auto const real = real_data(10);
    if (!real) return;
    auto const f = made_to_agree(*real);
    auto const& p = real->p;
    auto const& best = real->best;
    double const tau = .25;
    auto const r = ibgd{tau}.compose<double, host>(p);
    double const step = r.step.rate;
    lockstep run(r, f, vec(13, 0.0), 1);
    // What is sent for either coin, by the library, and the exact expectation over the coins.
    auto const expected = [&] {
        host on;
        message_of<scaled_down<lazy<>>> m;
        vec next = run.x();
        double variance = 0;
        for (auto const& g : gradients(f, run.x())) {
            std::vector<vec> decoded(2, vec(13));
            for (std::uint64_t seed = 0, seen = 0; seen != 3; ++seed) {
                r.compressor(on, std::span<double const>(g), key{seed}, m);
                std::size_t const sends = m.inside.support.size() > 0;
                seen |= 1u << sends;
                decoded[sends].assign(13, 0);
                add_message(on, std::span(decoded[sends]), 1.0, m);
            }
            CHECK(norm2(decoded[0]) == 0);
            for (std::size_t j = 0; j < 13; ++j) next[j] -= step * tau * decoded[1][j] / 10;
            variance += tau * (1 - tau) * norm2(decoded[1]) / 100;
        }
        return distance2(next, best.x) + step * step * variance;
    };
    double worst = 0;
    for (std::size_t const wait : {0u, 1u, 10u, 100u, 1000u}) {
        run.rounds(wait);
        worst = std::max(worst, expected() / distance2(run.x(), best.x));
    }
    CHECK(worst <= 1 - step * tau * p.strong_convexity);
    CHECK(worst > .9);
    CHECK(distance2(run.x(), best.x) < 1e-3 * norm2(best.x));
}

TEST_CASE("one worker in n sends on average, and the others' messages are empty") {
    auto const f = around(std::vector<vec>(4, vec(8, 1.0)));
    auto const states = history(ibgd{}.compose<double, host>(constants(f)), f, vec(8, 0.0), 200);
    std::size_t sent = 0;
    for (std::size_t k = 1; k <= 200; ++k)
        for (auto const& bytes : states[k].bytes) {
            CHECK((bytes.empty() || bytes.size() == 64));
            sent += !bytes.empty();
        }
    CHECK(std::abs(double(sent) - 200) < 5 * std::sqrt(800 * .25 * .75));
}

TEST_CASE("wrong arguments are refused with the reason, and its text has the right ones") {
    problem const p{8, 5, 4, .5, 10, 6};
    CHECK(ibgd{}.compose<double, host>(p).step.rate == doctest::Approx(1 / (.2 * 4 + .8 * 10 / 5)));
    for (double const bad : {-.1, 1.1, double(NAN)})
        CHECK_THROWS_AS((ibgd{bad, {.step = .1}}.compose<double, host>(p)), argument_error);
    CHECK_THROWS_WITH_AS((ibgd{}.compose<double, host>(problem{})), doctest::Contains("ibgd: its theorem"),
                         theory_error);
    CHECK_THROWS_AS((ibgd{.5, {.memory = .5}}.compose<double, host>(p)), argument_error);
    CHECK(to_string(ibgd{}) == "ibgd");
    CHECK(to_string(ibgd{.1, {.step = .5}}) == "ibgd(tau=0.1, step=0.5)");
}
