// SPDX-License-Identifier: Apache-2.0
// Two of ten ranks send something else: by a robust rule the others still come to their optimum, which the mean of all
// does not.
#include "laconic/transport/robust.hpp"

#include <mutex>

#include "laconic/any/transport.hpp"
#include "laconic/comm/fibers.hpp"
#include "laconic/method/dcgd.hpp"
#include "laconic/method/diana.hpp"
#include "laconic/method/ef_sgd.hpp"
#include "laconic/method/local_sgd.hpp"
#include "laconic/method/marina.hpp"
#include "laconic/parse.hpp"
#include "support/bowl_runs.hpp"
#include "support/everything.hpp"

namespace rules = laconic::robust_rules;

constexpr int all_ranks = 10;

// Bowls that share their optimum, of which ranks 0 and 9 bring something else.
struct intruder {
    int rank;

    std::size_t dimension() const { return bowls::d; }
    double value(std::span<double const>) const { return 0; }
    void gradient(std::span<double const> x, std::span<double> g) const {
        for (std::size_t j = 0; j < x.size(); ++j) {
            double const own = bowls::a(rank, j) * (x[j] - bowls::common_b(j));
            g[j] = rank == 0 ? 10 - double(j) : rank == 9 ? -3 * own + 5 : own;
        }
    }
};

// The distance from the optimum after so many rounds, on all ranks; and whether all have the same bits.
template <class R>
double distance(R const& r, std::size_t rounds) {
    std::vector<std::vector<double>> all(all_ranks);
    laconic::fibers::run(all_ranks, [&](laconic::fibers::member& comm) {
        auto& x = all[std::size_t(comm.rank())];
        x.assign(bowls::d, 1);
        intruder const f{comm.rank()};
        laconic::descent run(r, f, comm, std::span<double>(x), 1);
        for (std::size_t k = 0; k < rounds; ++k) run.round();
    });
    double sum = 0;
    for (std::size_t j = 0; j < bowls::d; ++j) sum += std::pow(all[0][j] - bowls::common_b(j), 2);
    for (auto const& x : all) CHECK(x == all[0]);
    return std::sqrt(sum);
}
template <class Rule>
auto by(Rule rule) {
    return bowls::composed(gd{{.step = .3}}).with_over(robust{rule});
}

TEST_CASE("by each rule the other ranks come to their optimum; centered_clip, as near as its radius allows") {
    CHECK(distance(bowls::composed(gd{{.step = .3}}), 300) > 1);
    CHECK(distance(by(rules::trimmed_mean{1}), 300) > .1);  // one of two is dropped in each coordinate
    CHECK(distance(by(rules::coordinate_median{}), 300) < 1e-9);
    CHECK(distance(by(rules::trimmed_mean{2}), 300) < 1e-9);
    CHECK(distance(by(rules::geometric_median{100}), 300) < 1e-4);  // the two weigh as their distance allows
    CHECK(distance(by(rules::krum{2}), 300) < 1e-9);
    CHECK(distance(by(rules::median_norm_clip{}), 300) < 1e-9);
    // Where it stands, the others' clipped ways balance two of at most the radius: 8 |g| <= 2 radius, |g| >= |x|
    // / 2.
    double const radius = .1;
    CHECK(distance(by(rules::centered_clip{radius, 1}), 1000) <= 2 * radius / 8 / .5);
}

TEST_CASE("compressed messages are gathered as such") {
    auto const r = bowls::composed(dcgd{natural{}, {.step = .3}}).with_over(robust{rules::coordinate_median{}});
    CHECK(distance(r, 400) < 1e-9);
}

TEST_CASE("beside a residual or a shift it is refused, unless it is asked for; so is a rule for more ranks") {
    auto const run = [](auto const& r, int ranks) {
        laconic::fibers::run(ranks, [&](laconic::fibers::member& comm) {
            std::vector<double> x(bowls::d, 1);
            intruder const f{comm.rank()};
            laconic::descent once(r, f, comm, std::span<double>(x), 1);
            once.round();
        });
    };
    auto const with_residual = bowls::composed(ef_sgd{top_k{2}, {.step = .05}});
    CHECK_THROWS_AS(run(with_residual.with_over(robust{rules::coordinate_median{}}), 3), argument_error);
    run(with_residual.with_over(robust{rules::coordinate_median{}, true}), 3);
    auto const refused = [&](auto const& method) {
        CHECK_THROWS_AS(run(bowls::composed(method).with_over(robust{rules::coordinate_median{}}), 3), argument_error);
    };
    refused(diana{rand_k{2}, {.step = .05}});
    refused(marina<rand_k<>>{.compressor = rand_k{2}, .given = {.step = .05}});
    refused(dasha<rand_k<>>{.compressor = rand_k{2}, .given = {.step = .05}});
    scaffold const corrected{.given = {.step = .05}};
    refused(corrected);
    any_transport<> const chosen = robust{rules::coordinate_median{}};
    CHECK_THROWS_AS(run(bowls::composed(corrected).with_over(chosen), 3), argument_error);
    CHECK_THROWS_AS(run(bowls::composed(gd{{.step = .3}}).with_over(robust{rules::krum{1}}), 4), argument_error);
    CHECK(to_string(robust{rules::krum{2}}) == "robust(krum(2))");
}

TEST_CASE("what it remembers is saved: a restored run goes on with the same bits") {
    auto const r = by(rules::centered_clip{.1, 1});
    laconic::fibers::run(3, [&](laconic::fibers::member& comm) {
        std::vector<double> x(bowls::d, 1), y(bowls::d, 1);
        intruder const f{comm.rank() + 1};
        laconic::descent one(r, f, comm, std::span<double>(x), 1);
        for (int k = 0; k < 5; ++k) one.round();
        auto const saved = one.save();
        laconic::descent other(r, f, comm, std::span<double>(y), 1);
        other.restore(saved);
        for (int k = 0; k < 5; ++k) one.round(), other.round();
        CHECK(x == y);
    });
}
