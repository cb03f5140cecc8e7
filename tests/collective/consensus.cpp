// SPDX-License-Identifier: Apache-2.0
// The report of a decentralized run by hand.
#include "laconic/collective/consensus.hpp"

#include "support/everything.hpp"
#include "support/toys.hpp"

TEST_CASE("values at the ranks' models and at their mean, and the largest distance to it") {
    auto const f = toys::around({{0, 0}, {2, 0}, {1, 3}});
    std::vector<toys::vec> const x{{0, 1}, {4, 1}, {2, 4}};  // the mean is (2, 2)
    threads::run(3, [&](threads::member& comm) {
        auto const i = static_cast<std::size_t>(comm.rank());
        auto const all = report_consensus(f[i], std::span<double const>(x[i]), comm);
        CHECK(all.value == doctest::Approx((.5 + 2.5 + 1) / 3));
        CHECK(all.value_at_mean == doctest::Approx((4 + 2 + 1) / 3.));
        CHECK(all.distance == doctest::Approx(std::sqrt(5)));
    });
}

TEST_CASE("ranks whose models have other lengths") {
    auto const f = toys::around({{0, 0}, {2, 0}});
    CHECK_THROWS_AS(threads::run(2,
                                 [&](threads::member& comm) {
                                     toys::vec const x(comm.rank() == 0 ? 2 : 1);
                                     report_consensus(f[0], std::span<double const>(x), comm);
                                 }),
                    comm_error);
}
