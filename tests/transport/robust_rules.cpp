// SPDX-License-Identifier: Apache-2.0
// Rules for ranks of which some send anything: known answers, from a program of its own in numpy.
#include "laconic/transport/robust_rules.hpp"

#include "support/bowls.hpp"
#include "support/everything.hpp"

namespace rules = laconic::robust_rules;
using vec = std::vector<double>;

// Four ranks near each other, and one far away.
template <class T>
std::vector<T> brought(std::size_t ranks) {
    std::vector<T> all;
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 3; ++j)
            all.push_back(static_cast<T>(bowls::b(i, static_cast<std::size_t>(j)) + i * i * (j + 1) / 8.0));
    for (double const v : {30, -40, 50}) all.push_back(static_cast<T>(v));
    all.resize(3 * ranks);
    return all;
}
template <class T>
void is(auto const& rule, std::size_t ranks, vec const& known, double digits) {
    auto const all = brought<T>(ranks);
    std::vector<T> const last(3);
    std::vector<T> out(3, T(99));
    rule.check(ranks);
    rule(rules::rank_vectors<T>{all, 3}, std::span<T const>(last), std::span<T>(out));
    for (std::size_t j = 0; j < 3; ++j) CHECK(double(out[j]) == doctest::Approx(known[j]).epsilon(digits));
}

TEST_CASE_TEMPLATE("each rule's estimate of five ranks, of which one is far away", T, double, float) {
    double const digits = std::is_same_v<T, double> ? 1e-11 : 1e-6;
    is<T>(rules::coordinate_median{}, 5, {1.046875, 0.03125, 2.5625}, digits);
    is<T>(rules::coordinate_median{}, 4, {0.1015625, 1.171875, 2.5546875}, digits);  // the mean of the middle two
    is<T>(rules::trimmed_mean{1}, 5, {1.130208333333333, 0.645833333333333, 2.916666666666667}, digits);
    is<T>(rules::geometric_median{1000}, 5, {0.9238152531, -0.126097128453, 3.439475873016}, digits);
    is<T>(rules::krum{1}, 5, {-2.484375, 0.03125, 2.546875}, digits);
    is<T>(rules::median_norm_clip{}, 5, {0.35286329298, 0.3946659454, 2.160620563279}, digits);
    is<T>(rules::centered_clip{2, 3}, 5, {0.316293482258, 0.537056911141, 2.404665575508}, digits);
}

TEST_CASE("the mean over senders does not count zeros; clipped, none is longer than the middle one") {
    vec const all{4, 0, 0, 2, 3, 0, 0, 5, 0};
    vec out(3), last(3);
    auto const by = [&](rules::mean_over_senders rule) {
        rule(rules::rank_vectors<double>{all, 3}, std::span<double const>(last), std::span(out));
        return out;
    };
    CHECK(by({}) == vec{3, 4, 0});
    CHECK(by({true}) == vec{3, 3.5, 0});
    CHECK(to_string(rules::mean_over_senders{true}) == "mean_over_senders(clip=yes)");
}

TEST_CASE("krum's scores") {
    auto const all = brought<double>(5);
    auto const scores = rules::krum{1}.scores_of(rules::rank_vectors<double>{all, 3});
    vec const known{28.39990234375, 37.83740234375, 30.36865234375, 39.80615234375, 9362.63232421875};
    for (std::size_t i = 0; i < 5; ++i) CHECK(scores[i] == doctest::Approx(known[i]).epsilon(1e-12));
}

TEST_CASE(
    "nothing is trimmed: the mean; centered_clip goes on from the last estimate, and stays at a point that all have") {
    auto const all = brought<double>(5);
    is<double>(rules::trimmed_mean{0}, 5,
               {(all[0] + all[3] + all[6] + all[9] + 30) / 5, (all[1] + all[4] + all[7] + all[10] - 40) / 5,
                (all[2] + all[5] + all[8] + all[11] + 50) / 5},
               1e-14);
    vec const same{1, 2, 1, 2, 1, 2}, there{1, 2}, near{1, 2.5};
    vec out(2);
    rules::centered_clip{.25, 1}(rules::rank_vectors<double>{same, 2}, std::span<double const>(there), std::span(out));
    CHECK(out == there);
    rules::centered_clip{.25, 1}(rules::rank_vectors<double>{same, 2}, std::span<double const>(near), std::span(out));
    CHECK(out == vec{1, 2.25});
    rules::geometric_median{}(rules::rank_vectors<double>{same, 2}, std::span<double const>(near), std::span(out));
    CHECK(out == there);
    // Two of three at 0, one at 1: where it stands, z / 1e-6 twice balances 1.
    vec const most{0, 0, 1}, origin{0};
    vec z(1);
    rules::geometric_median{}(rules::rank_vectors<double>{most, 1}, std::span<double const>(origin), std::span(z));
    CHECK(z[0] == doctest::Approx(5e-7).epsilon(1e-5).scale(0));
}

TEST_CASE("one rank's numbers move no estimate far, however large they are") {
    for (double const large : {1e155, 1e308, -1e308}) {
        vec all = brought<double>(5);
        all[12] = large, all[13] = -large;
        vec const last(3);
        auto const stays = [&](auto const& rule) {
            vec out(3);
            rule(rules::rank_vectors<double>{all, 3}, std::span<double const>(last), std::span(out));
            for (double const v : out) CHECK(std::abs(v) < 10);
        };
        stays(rules::coordinate_median{}), stays(rules::trimmed_mean{1}), stays(rules::geometric_median{});
        stays(rules::krum{1}), stays(rules::centered_clip{2, 3}), stays(rules::median_norm_clip{});
    }
}

TEST_CASE("too few ranks are refused, and vectors of no number are none") {
    CHECK_THROWS_WITH_AS(rules::trimmed_mean{2}.check(4), "trimmed_mean drops 4 of the numbers of 4 ranks",
                         argument_error);
    CHECK_THROWS_WITH_AS(rules::krum{1}.check(4), "krum needs more than 4 ranks for 1 faulty ones, not 4",
                         argument_error);
    rules::trimmed_mean{2}.check(5), rules::krum{1}.check(5);
    std::span<double const> const none{};
    auto const each = [&](auto const&... rule) {
        (rule(rules::rank_vectors<double>{none, 0}, none, std::span<double>()), ...);
    };
    each(rules::coordinate_median{}, rules::trimmed_mean{0}, rules::geometric_median{}, rules::centered_clip{},
         rules::median_norm_clip{});
}
