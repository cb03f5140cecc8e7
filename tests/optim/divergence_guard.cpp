// SPDX-License-Identifier: Apache-2.0
// The guard trips at the third growth in a row, at NaN, and not before.
#include "laconic/optim/divergence_guard.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/states.hpp"

using namespace laconic;

namespace tests_of_divergence_guard {

// At which values, counted from 0, it trips.
std::vector<int> trips(std::vector<double> const& values) {
    divergence_guard guard;
    std::vector<int> at;
    for (int i = 0; i < int(values.size()); ++i)
        if (guard.sees(values[std::size_t(i)])) at.push_back(i);
    return at;
}

TEST_CASE("three growths in a row, counted anew after it tripped, or NaN") {
    CHECK(trips({1, 2, 3, 4}) == std::vector{3});
    CHECK(trips({1, 2, 3, 3, 4, 5, 4, 5, 6, 7}) == std::vector{9});
    CHECK(trips({1, 2, 3, 4, 5, 6, 7, 8}) == std::vector{3, 6});
    CHECK(trips({3, 2, 1, 1, 1, 1, 1}).empty());
    CHECK(trips({1, NAN}) == std::vector{1});
    CHECK(trips({NAN}) == std::vector{0});
    CHECK(trips({0, 1, HUGE_VAL}).empty());
}

TEST_CASE("its state goes on, and the error has the round and the value") {
    divergence_guard one, other;
    for (double const v : {1., 2., 3.}) one.sees(v);
    restore_from(one, other);
    CHECK(other.sees(4));
    divergence_error const e(7, 2.5, "take less");
    CHECK(e.round == 7);
    CHECK(e.value == 2.5);
    CHECK(std::string(e.what()) ==
          "round 7: the value has grown to 2.5 in several rounds in a row: the run diverges; take less");
    CHECK(words_of(on_growth::halve_steps)[1] == "halve_steps");
}

}  // namespace tests_of_divergence_guard
