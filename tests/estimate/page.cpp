// SPDX-License-Identifier: Apache-2.0
// PAGE by hand: in full, then by one row's change, or in full where the ranks' coin says so; without a batch in full.
#include "laconic/estimate/page.hpp"

#include "support/everything.hpp"
#include "support/states.hpp"

// Samples x^2 / 2 and 3 x^2 / 2.
struct two_parabolas {
    std::size_t dimension() const { return 1; }
    double value(std::span<double const> x) const { return x[0] * x[0]; }
    void gradient(std::span<double const> x, std::span<double> g) const { g[0] = 2 * x[0]; }
    std::size_t samples() const { return 2; }
    void batch_gradient(std::span<std::uint32_t const> rows, std::span<double const> x, std::span<double> g) const {
        g[0] = 0;
        for (auto const row : rows) g[0] += (1 + 2 * row) * x[0] / static_cast<double>(rows.size());
    }
};

// The first round from `from` on, of rank 1, in which this row is drawn, and the coin is below 1/2 or not.
round_context round_with(std::uint32_t row, bool in_full, std::uint64_t from = 1) {
    for (std::uint64_t k = from;; ++k)
        if (auto const now = round_context::of(key{4}, k, 1, 2);
            now.gradient.below(0, 2) == row && (now.shared.child(3).uniform(0) < .5) == in_full)
            return now;
}

TEST_CASE("five rounds by hand") {
    host on;
    page<> e(1, .5);
    CHECK(to_string(e) == "page(p=0.5) of mini_batch(1)");
    auto const round = [&](page<>& by, round_context const& now, double x) {
        std::vector<double> const at{x};
        std::vector<double> g(1), again(1);
        by(on, two_parabolas{}, now, std::span<double const>(at), std::span<double>(again));
        by(on, two_parabolas{}, now, std::span<double const>(at), std::span<double>(g));
        CHECK(again == g);
        by.update(on, std::span<double const>(at));
        return g[0];
    };
    CHECK(round(e, round_with(0, false), 4) == 8);  // the first is in full
    CHECK(round(e, round_with(0, false), 5) == 9);  // 8 + 1 (5 - 4)
    CHECK(round(e, round_with(1, false), 3) == 3);  // 9 + 3 (3 - 5)
    page<> other(1, .5);
    restore_from(e, other);
    CHECK(other.last_estimate()[0] == 3);
    for (auto* const by : {&e, &other}) {
        CHECK(round(*by, round_with(0, false), 4) == 4);
        CHECK(round(*by, round_with(0, true), 10) == 20);
        CHECK(round(*by, round_with(1, false), 11) == 23);
    }
    page<> all;
    CHECK(to_string(all) == "the full gradient");
    CHECK(round(all, round_with(0, false), 4) == 8);
    CHECK(round(all, round_with(0, false), 5) == 10);
    CHECK(all.last_estimate().empty());
    CHECK_THROWS_AS(page<>(1, 1.5), argument_error);
    CHECK_THROWS_AS(page<>(1, NAN), argument_error);
}
