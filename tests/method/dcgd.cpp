// SPDX-License-Identifier: Apache-2.0
// DCGD takes parts that are unbiased, or of one worker contractive, also where they are chosen at run time.
#include "laconic/method/dcgd.hpp"

#include "support/everything.hpp"

using namespace laconic;

TEST_CASE("one worker may use parts that are contractive, chosen at run time or not; of mixed parts each is asked") {
    auto const step_of = [](auto const& c) {
        return dcgd{c}.template compose<double, host>(problem{3, 1, 4, 1, 4, 4}).step.rate;
    };
    parts<top_k<>> const typed{{1, top_k{1}}, {2, top_k{1}}};
    CHECK(step_of(typed) == 1. / 4);
    CHECK(step_of(any_compressor<>(typed)) == 1. / 4);
    using any = any_compressor<>;
    auto const of = [](any a, any b) { return any(parts<any>{{1, std::move(a)}, {2, std::move(b)}}); };
    CHECK(step_of(of(top_k{1}, natural{})) == 1. / 4);
    CHECK((is_contractive(of(top_k{1}, top_k{1})) && !is_unbiased(of(top_k{1}, natural{}))));
    CHECK(is_unbiased(of(rand_k{1}, natural{})));
    CHECK(step_of(of(identity{}, natural{})) == doctest::Approx(1 / (4 + 2 * .125 * 4)));
}
