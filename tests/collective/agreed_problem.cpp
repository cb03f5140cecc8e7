// SPDX-License-Identifier: Apache-2.0
// All ranks get the same constants of the mean, from those of each.
#include "laconic/collective/agreed_problem.hpp"

#include "support/everything.hpp"
#include "support/toys.hpp"

using namespace toys;

// What an objective knows of itself.
struct constants_of_7 {
    double l, mu;
    std::size_t dimension() const { return 7; }
    double smoothness() const { return l; }
    double strong_convexity() const { return mu; }
};

TEST_CASE("the constants of the mean, from those of each rank") {
    std::vector<problem> found(3);
    double const smoothness[] = {3, 6, 1.5}, convexity[] = {.5, 0, .25};
    threads::run(3, [&](threads::member& comm) {
        auto const me = static_cast<std::size_t>(comm.rank());
        found[me] = agree_on_problem(comm, constants_of_7{smoothness[me], convexity[me]});
    });
    CHECK(found[0].dimension == 7);
    CHECK(found[0].workers == 3);
    CHECK(found[0].smoothness == doctest::Approx(3.5));
    CHECK(found[0].strong_convexity == doctest::Approx(.25));
    CHECK(found[0].least_strong_convexity == 0);
    CHECK(found[0].largest_smoothness == 6);
    CHECK(found[0].mean_square_smoothness == doctest::Approx(std::sqrt((9 + 36 + 2.25) / 3)));
    CHECK(found[0].samples == 0);
    CHECK(found[0].largest_sample_smoothness == 0);
    for (std::size_t i = 0; i < 3; ++i) {  // each knows its own smoothness; all else is the same
        CHECK(found[i].own_smoothness == smoothness[i]);
        found[i].own_smoothness = 0;
        CHECK(found[i] == found[0]);
    }
}

TEST_CASE("of means over samples: the most of them, and the largest constant of one") {
    struct sampled : constants_of_7 {
        std::size_t rows;
        double largest;
        std::size_t samples() const { return rows; }
        double sample_smoothness() const { return largest; }
    };
    std::vector<problem> found(3);
    threads::run(3, [&](threads::member& comm) {
        std::size_t const rows[] = {5, 9, 7};
        double const largest[] = {4, 8, 16};
        auto const me = static_cast<std::size_t>(comm.rank());
        found[me] = agree_on_problem(comm, sampled{{3, .5}, rows[me], largest[me]});
    });
    CHECK(found[0].samples == 9);
    CHECK(found[0].largest_sample_smoothness == 16);
    CHECK(found[0].smoothness == doctest::Approx(3));
    CHECK(found[1] == found[0]);
    CHECK(found[2] == found[0]);
}

TEST_CASE("where one rank does not know its constants, those of the mean are unknown") {
    struct bare {
        std::size_t dimension() const { return 7; }
        std::size_t samples() const { return 5; }
    };
    std::vector<problem> found(3);
    threads::run(3, [&](threads::member& comm) {
        auto const me = static_cast<std::size_t>(comm.rank());
        found[me] = me == 1 ? agree_on_problem(comm, bare{}) : agree_on_problem(comm, constants_of_7{3, .5});
    });
    for (auto const& p : found) CHECK(p == problem{.dimension = 7, .workers = 3, .samples = 5});
}

TEST_CASE("constants that are none are refused by name") {
    std::byte const word[3] = {};
    table all{{{}, {word}}, {}, false};
    replayed_rank air{&all};
    CHECK_THROWS_WITH_AS(
        agree_on_problem(air, constants_of_7{1, 1}),
        doctest::Contains("rank 1 sent 3 bytes in place of the constants of its objective, of 32 bytes"), comm_error);
}
