// SPDX-License-Identifier: Apache-2.0
// any_collective works over any communicator that suits the collective inside; tests of collectives sum by it.
#include "laconic/any/collective.hpp"

#include "support/everything.hpp"
#include "support/sparse_vectors.hpp"

static_assert(Collective<any_collective<>> && Collective<any_collective<float>, float>);
namespace sv = sparse_vectors;

constexpr std::size_t dimension = 50;

TEST_CASE("a handle to any ranks is taken as it is, and a communicator that is not PointToPoint is refused") {
    fibers::run(3, [](fibers::member& inner) {
        any_communicator comm(inner);
        host on;
        any_collective<float> const any = gtop_k{2};
        auto sum = make_sum<float>(any, dimension);
        auto v = sv::of<float>(dimension, {{std::size_t(inner.rank()), float(1 + inner.rank())}});
        sum(on, comm, v);
        CHECK(v == sv::of<float>(dimension, {{1, 2}, {2, 3}}));
        std::vector<float> left(dimension), expected(dimension);
        sum.add_leftover(on, std::span(left));
        if (inner.rank() == 0) expected[0] = 1;
        CHECK(left == expected);
    });
    struct collective_calls_alone {
        int rank() const { return 0; }
        int size() const { return 2; }
        void all_gather(payload) {}
        void gather(int, payload) {}
        void broadcast(int, payload) {}
        payload from(int) const { return {}; }
    } comm;
    host on;
    auto sum = make_sum<float>(any_collective<float>(gtop_k{2}), dimension);
    sv::list<float> v(dimension);
    CHECK_THROWS_WITH_AS(sum(on, comm, v), doctest::Contains("is not PointToPoint"), argument_error);
}

TEST_CASE("gathering is the default, and what is written alike is equal") {
    CHECK(any_collective<>{}.gathers());
    CHECK(any_collective<>(gather_all{}) == any_collective<>{});
    CHECK(to_string(any_collective<>{}) == "gather");
    CHECK(any_collective<>(gtop_k{3}) == any_collective<>(gtop_k{3}));
    CHECK(any_collective<>(gtop_k{3}) != any_collective<>(gtop_k{4}));
    CHECK(any_collective<>(gtop_k{3}) != any_collective<>{});
    any_collective<>{}.check(2);
    any_collective<>(gtop_k{3}).check(3);
    CHECK_THROWS_WITH_AS(any_collective<>(gtop_k{3}).check(2), doctest::Contains("k = 3 is above the dimension d = 2"),
                         argument_error);
}

TEST_CASE("gather and robust add nothing up") {
    fibers::run(1, [](fibers::member& comm) {
        CHECK_THROWS_AS(make_sum<double>(any_collective<>{}, comm, 5), argument_error);
        CHECK_THROWS_WITH_AS(make_sum<double>(any_collective<>(robust{robust_rules::krum{}}), comm, 5),
                             doctest::Contains("robust(krum(1)) adds nothing up"), argument_error);
    });
}

namespace rules = laconic::robust_rules;

TEST_CASE("a rule behind any_rule is the one inside") {
    std::vector<float> const numbers{1, 7, 2, -3, 40, 5, 3, 6, 0, 1, -20, 4, 2, 5, 8, 0};
    rules::rank_vectors<float> const all{numbers, 2};
    std::vector<float> const last{1, -1};
    auto const same = [&](auto const& rule) {
        any_rule<float> const any = rule;
        CAPTURE(to_string(any));
        CHECK("robust(" + to_string(any) + ")" == to_string(robust{rule}));
        std::vector<float> x(2), y(2);
        rule(all, std::span<float const>(last), std::span<float>(x));
        any(all, last, y);
        CHECK(x == y);
        CHECK((x[0] != 0 && x[0] < 40));
    };
    same(rules::trimmed_mean{2});
    same(rules::coordinate_median{});
    same(rules::geometric_median{7});
    same(rules::krum{2});
    same(rules::centered_clip{2, 3});
    same(rules::median_norm_clip{});
    same(rules::mean_over_senders{true});
    CHECK(any_rule<float>{} == any_rule<float>(rules::coordinate_median{}));
    CHECK(any_rule<float>(rules::krum{1}) != any_rule<float>(rules::krum{2}));
    CHECK_THROWS_AS(any_rule<float>(rules::krum{2}).check(6), argument_error);
    any_rule<float>(rules::krum{2}).check(7);
}
