// SPDX-License-Identifier: Apache-2.0
// A rule chosen at run time gives what its type gives, and refuses the ranks that its type refuses.
#include "laconic/any/rule.hpp"

#include "laconic/transport/robust.hpp"
#include "support/everything.hpp"

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
