// SPDX-License-Identifier: Apache-2.0
// FedNL as a value: its text, its parameters, and what it refuses.
#include "laconic/second_order/fednl.hpp"

#include "support/det6.hpp"
#include "support/everything.hpp"
#include "support/solvers.hpp"

TEST_CASE("fednl: its text has what differs from the defaults") {
    CHECK(to_string(fednl{top_k{.1}}) == "fednl(top_k(0.1))");
    CHECK(to_string(fednl<top_k<>>{.compressor = {3}, .definite = definite_by::projection, .mu = .5, .alpha = .25}) ==
          "fednl(top_k(3), definite=projection, mu=0.5, alpha=0.25)");
    CHECK(to_string(fednl<low_rank<>>{
              .compressor = {4, 1}, .fresh = false, .start_in_full = false, .as = symmetric_as::whole}) ==
          "fednl(low_rank(rows=4, rank=1), fresh=no, start_in_full=no, as=whole)");
    CHECK(to_string(fednl<top_k<>>{.compressor = {3}, .line_search = true}) == "fednl(top_k(3), line_search=yes)");
    CHECK(to_string(fednl<top_k<>, ef21_shift<top_k<>>>{.compressor = {3}, .gradient = {{2}}}) ==
          "fednl(top_k(3), gradient=ef21_shift(top_k(2)))");
    CHECK(fednl{top_k{3}} == fednl{top_k{3}});
    CHECK(fednl{top_k{3}} != fednl{top_k{4}});
}

TEST_CASE("fednl: settings outside their ranges, unknown constants and ranks that disagree are refused") {
    auto const f = det6::objective::of_all();
    threads::run(2, [&](threads::member& comm) {
        std::vector<double> x(4);
        auto const start = [&](auto const& method) {
            method.template start<double>(problem{}, f, comm, std::span<double>(x), 1);
        };
        using top = fednl<top_k<>>;
        CHECK_THROWS_WITH_AS(start(top{.compressor = {3}, .mu = -1}), doctest::Contains("mu = -1"), argument_error);
        CHECK_THROWS_AS(start(top{.compressor = {3}, .alpha = 0}), argument_error);
        CHECK_THROWS_WITH_AS(start(top{.compressor = {3}, .alpha = 1.5}), doctest::Contains("alpha = 1.5"),
                             argument_error);
        CHECK_THROWS_WITH_AS(start(top{.compressor = {11}}), doctest::Contains("k = 11"), argument_error);
        CHECK_THROWS_WITH_AS(start(top{.compressor = {3}, .definite = definite_by::projection}),
                             doctest::Contains("needs mu"), theory_error);
        CHECK_THROWS_WITH_AS(start(fednl<low_rank<>>{.compressor = {4, 1}}), doctest::Contains("no matrix of 4 rows"),
                             argument_error);
        CHECK_THROWS_WITH_AS(start(fednl<threshold<>>{.compressor = {.1}}), doctest::Contains("give alpha yourself"),
                             theory_error);
        fednl<top_k<>, ef21_shift<top_k<>>> const searching{.compressor = {3}, .line_search = true, .gradient = {{2}}};
        CHECK_THROWS_WITH_AS(start(searching), "fednl: a line search needs gradients in full: take gradient = plain",
                             theory_error);
        CHECK_THROWS_AS(start(top{.compressor = {2 + comm.rank()}}), agreement_error);
        x.resize(3);
        CHECK_THROWS_AS(start(top{.compressor = {3}}), shape_error);
    });
}

TEST_CASE("fednl: differences added up by a collective give the same steps") {
    auto const parts = det6::parts();
    threads::run(6, [&](threads::member& comm) {
        auto const f = det6::objective::of(parts[std::size_t(comm.rank())]);
        std::vector<double> x(4), y(4);
        auto gathered = fednl<top_k<>>{.compressor = {2}, .start_in_full = false}.start<double>(
            problem{}, f, comm, std::span<double>(x), 1);
        auto summed = fednl<top_k<>, plain<>, gathered_sum>{.compressor = {2}, .start_in_full = false}.start<double>(
            problem{}, f, comm, std::span<double>(y), 1);
        for (int k = 0; k < 8; ++k) gathered.round(), summed.round();
        for (std::size_t i = 0; i < 4; ++i) CHECK(y[i] == doctest::Approx(x[i]).epsilon(1e-12));
    });
}
