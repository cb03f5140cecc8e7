// SPDX-License-Identifier: Apache-2.0
// A recursion behind faces sends the same messages and takes the same iterates, and its copies share nothing.
#include "laconic/any/recursion.hpp"

#include "support/everything.hpp"
#include "support/samples.hpp"
#include "support/toys.hpp"

using toys::vec;

std::vector<logistic_regression<>> logistic_workers() {
    std::vector<logistic_regression<>> f;
    for (std::size_t i = 0; i < 3; ++i) f.push_back(samples::logistic_of(7, 6, 20 + i));
    return f;
}

// The same recursion with and without faces: the same iterates and the same words.
template <class R>
void says_the_same(R const& r) {
    auto const f = logistic_workers();
    std::vector<any_objective<>> const any(f.begin(), f.end());
    toys::lockstep<R, logistic_regression<>> plain(r, f, vec(6, 1.0), 4);
    auto const behind_faces = erased<double, host>(r);
    toys::lockstep<any_recursion<>, any_objective<>> faces(behind_faces, any, vec(6, 1.0), 4);
    for (int k = 0; k < 25; ++k) {
        plain.round();
        faces.round();
        REQUIRE(plain.x() == faces.x());
        for (std::size_t i = 0; i < 3; ++i)
            CHECK(faces.message_of_rank(i).template get<detail::message_of<decltype(R::compressor)>>() ==
                  plain.message_of_rank(i));
    }
    CHECK(plain.x() != vec(6, 1.0));
    auto const& parts = plain.method(0);
    auto const& its = faces.method(0);
    CHECK(to_string(its.feedback) == to_string(parts.feedback));
    CHECK(to_string(its.step) == to_string(parts.step));
    CHECK(to_string(its.level) == to_string(parts.level));
    CHECK(to_string(its.estimator) == to_string(parts.estimator));
    CHECK(to_string(its.over) == to_string(parts.over));
}

TEST_CASE("a recursion behind faces sends the same bytes: memories, levels, estimators, steps, answers, collectives") {
    using bounds = std::span<double const>;
    says_the_same(recursion<threshold<identity, bounds>, memory<>, gradient_step, follow_last_move<double>>{
        {}, {.01, true}, {.2}, follow_last_move<double>(3)});
    recursion<rand_k<>, memory<>, momentum<>, fixed_level, l_svrg<>> const sampled{
        {3}, {.3, false}, momentum<>(.05, .5), {}, l_svrg<>(2, .25)};
    says_the_same(sampled);
    says_the_same(
        recursion<top_k<>, memory<>>{{2}, {0, 1}, {1}, {}, {}, {}, .2}.with_over(served<natural>{{}, {.5, 0}}));
    says_the_same(recursion<top_k<>, memory<>>{{2}, {0, 1}, {1}, {}, {}, {}, .2}.with_over(gtop_k{1}));
}

TEST_CASE("the length of a step, where it has one") {
    CHECK(any_step<>(gradient_step{.25}).rate() == .25);
    CHECK(any_step<>(proximal<gradient_step, elastic_net>{{.5}, {1, 0}, .5}).rate() == .5);
    struct standing_still {
        void operator()(host&, std::span<double>, std::span<double>) const {}
    };
    CHECK(any_step<>(standing_still{}).rate() == 0);
}

TEST_CASE("copies of a recursion share nothing, also where a level tunes the compressor") {
    using bounds = std::span<double const>;
    auto const f = logistic_workers();
    std::vector<any_objective<>> const any(f.begin(), f.end());
    auto const r =
        erased<double, host>(recursion<threshold<identity, bounds>, memory<>, gradient_step, follow_last_move<double>>{
            {}, {.01, true}, {.2}, follow_last_move<double>(3)});
    toys::lockstep<any_recursion<>, any_objective<>> first(r, any, vec(6, 1.0), 4);
    first.rounds(10);
    toys::lockstep<any_recursion<>, any_objective<>> second(r, any, vec(6, 1.0), 4);
    second.rounds(10);
    CHECK(first.x() == second.x());
}
