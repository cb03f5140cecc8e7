// SPDX-License-Identifier: Apache-2.0
// The guard suspects what has not fallen in three rounds in a row, and compares the function by more than rounding.
#include "laconic/optim/divergence_guard.hpp"

#include "support/everything.hpp"
#include "support/states.hpp"

// At which values, counted from 0, it suspects.
std::vector<int> suspicions(std::vector<double> const& values) {
    divergence_guard guard;
    std::vector<int> at;
    for (int i = 0; i < int(values.size()); ++i)
        if (guard.suspects(values[std::size_t(i)], 0)) at.push_back(i);
    return at;
}

TEST_CASE("suspected: three rounds in a row without a fall, every third of more, or NaN") {
    CHECK(suspicions({1, 2, 3, 4}) == std::vector{3});
    CHECK(suspicions({1, 2, 3, 3, 4, 5, 4, 5, 6, 7}) == std::vector{3, 9});
    CHECK(suspicions({1, 2, 3, 4, 5, 6, 7, 8}) == std::vector{3, 6});
    CHECK(suspicions({3, 2, 1, 1, 1, 1}) == std::vector{5});
    CHECK(suspicions({3, 2, 2, 2, 1, 1, 1, 0}).empty());
    CHECK(suspicions({1, NAN}) == std::vector{1});
    CHECK(suspicions({NAN}) == std::vector{0});
}

// Whether it says so where the number that all know grows thrice while this rank's part takes these values.
template <class T = double>
bool diverges(std::vector<double> const& part, double others_before, double others_now, double size) {
    divergence_guard guard;
    for (int i = 0; i < 4; ++i) guard.suspects(i, part[std::size_t(i)]);
    auto all = guard.evidence(size);
    all.add({others_before, others_now, 0});
    return guard.diverged<T>(all);
}

TEST_CASE("diverged: the function is above its value before the growth, by more than rounding") {
    CHECK(diverges({1, 2, 3, 4}, 1, 1, 0));
    CHECK(!diverges({1, 2, 3, 4}, 4, 1, 0));  // the other ranks' parts fall as much
    CHECK(!diverges({1, 5, 5, 1}, 1, 1, 0));
    CHECK(diverges({1, 1, 1, 1 + 4e-8}, 1, 1, 0));
    CHECK(!diverges({1, 1, 1, 1 + 2e-8}, 1, 1, 0));
    CHECK(!diverges({1, 1, 1, 1 + 4e-8}, 1, 1, 2));
    CHECK(!diverges<float>({1, 1, 1, 1 + 4e-4}, 1, 1, 0));
    CHECK(diverges<float>({1, 1, 1, 1 + 1e-3}, 1, 1, 0));
    CHECK(!diverges({0, 1e-30, 2e-30, 3e-30}, 0, 0, 1));
    CHECK(diverges({0, 0, 0, NAN}, 0, 0, 1));
    CHECK(diverges({0, 0, 0, HUGE_VAL}, 0, 0, 1));
}

TEST_CASE("after it has said so, counting starts anew") {
    divergence_guard guard;
    for (int i = 0; i < 4; ++i) guard.suspects(i, i);
    CHECK(guard.diverged<double>(guard.evidence(0)));
    CHECK(!guard.suspects(4, 4));
    CHECK(!guard.suspects(5, 3.5));
    CHECK(guard.suspects(6, 3));
    CHECK(!guard.diverged<double>(guard.evidence(0)));  // 3 is where it grew to before
}

TEST_CASE("its state goes on, and the error has the round and the value") {
    divergence_guard one, other;
    for (double const v : {1., 2., 3.}) one.suspects(v, 2 * v);
    restore_from(one, other);
    CHECK(other.suspects(4, 7));
    CHECK(other.evidence(5).before == 2);
    CHECK(other.evidence(5).now == 7);
    CHECK(other.evidence(5).size == 5);
    divergence_error const e(7, 2.5, "take less");
    CHECK(e.round == 7);
    CHECK(e.value == 2.5);
    CHECK(std::string(e.what()) ==
          "round 7: the value has grown to 2.5 over several rounds: the run diverges; take less");
    CHECK(words_of(on_growth::halve_steps)[1] == "halve_steps");
}
