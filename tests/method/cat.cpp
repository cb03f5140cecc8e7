// SPDX-License-Identifier: Apache-2.0
// CAT takes the level of most progress per cost, keeps the descent lemma, and composes with DIANA and EF-SGD.
#include "laconic/method/cat.hpp"

#include "support/everything.hpp"
#include "support/tasks.hpp"

using namespace toys;

static_assert(Method<cat<ef_sgd<top_k<>>>> && Method<cat<top_k<>>> && Method<cat<diana<rand_k<>>>, float>);

TEST_CASE("of rand_k: the method at the k that its theorem guarantees the least cost for") {
    problem const p{100, 5, 4, .5, 9, 6, .25, 7, 12};
    auto const same = [&](auto const& tuned, auto const& plain) {
        auto const a = tuned.template compose<double, host>(p), b = plain.template compose<double, host>(p);
        CHECK(a.compressor == b.compressor);
        CHECK(a.step.rate == b.step.rate);
        CHECK(a.feedback.rate() == b.feedback.rate());
    };
    auto const cost = packet_cost(40, 10, 20);
    auto const k = cat{diana{rand_k{}}, cost}.level(p);
    CHECK((k > 1 && k < 100));
    same(cat{diana{rand_k{}}, cost}, diana{rand_k{k}});
    same(cat{diana{rand_k{} | natural{}}, cost},
         diana{rand_k{cat{diana{rand_k{} | natural{}}, cost}.level(p)} | natural{}});
    same(cat{vr_diana{rand_k{}}, cost}, vr_diana{rand_k{cat{vr_diana{rand_k{}}, cost}.level(p)}});
    same(cat{vr_diana_saga{rand_k{}}}, vr_diana_saga{rand_k{1}});
    same(cat{diana{rand_k{}, {.step = .001, .memory = .02}}}, diana{rand_k{2}, {.step = .001, .memory = .02}});
    CHECK(cat{diana{rand_k{}}, cost}.level<float>(p) >= k);  // more floats go into a packet
}

// After how many rounds f is within `share` of its first distance to the least value.
int rounds_to(double share, std::string const& method, task const& t) {
    any_run run(named(method, t.p), t.f, vec(t.p.dimension), 1);
    double const goal = share * t.gap(run.x());
    int k = 0;
    for (; t.gap(run.x()) > goal && k < 100000; k += 10) run.rounds(10);
    return k;
}

TEST_CASE("of rand_k: measured, 1e-6 costs at most a tenth more than with the best k of all; 1e-10 is reached") {
    auto all = tasks(10);
    all[0] = ridges(3, 12, 11);
    for (auto const& t : all) {
        CAPTURE(t.name);
        auto const d = t.p.dimension;
        std::vector<int> rounds;
        for (std::size_t k = 1; k <= d; ++k)
            rounds.push_back(rounds_to(1e-6, "diana(rand_k(" + std::to_string(k) + "))", t));
        std::set<std::size_t> chosen;
        for (auto const& cost :
             {message_cost{}, affine_cost(1, 640), packet_cost(20, 4, 10), packet_cost(512, 64, 60)}) {
            CAPTURE(to_string(cost));
            auto const spent = [&](std::size_t k) { return rounds[k - 1] * cost(64. * double(k)); };
            double least = spent(1), most = spent(1);
            for (std::size_t k = 2; k <= d; ++k) least = std::min(least, spent(k)), most = std::max(most, spent(k));
            auto const k = cat{diana{rand_k{}}, cost}.level(t.p);
            chosen.insert(k);
            CHECK(spent(k) <= 1.1 * least);
            CHECK(most > 1.5 * least);  // it matters
        }
        CHECK(chosen.size() >= 3);
        auto const k = cat{diana{rand_k{}}, affine_cost(1, 640)}.level(t.p);
        CHECK(rounds_to(1e-10, "cat(diana(rand_k), cost=affine(1, 640))", t) < 3 * rounds[k - 1]);
    }
}

TEST_CASE("of ef_sgd: that of best_level, with a longer step where messages as such cost") {
    auto const p = ridges(4, 6, 2).p;
    auto const composed = [](auto const& m, problem const& of) { return m.template compose<double, host>(of); };
    auto const same = [&](auto const& tuned, auto const& plain) {
        auto const a = composed(tuned, p), b = composed(plain, p);
        CHECK(a.compressor == b.compressor);
        CHECK(to_string(a.feedback) == to_string(b.feedback));
        CHECK(a.step.rate == b.step.rate);
        if (tuned.method.given.step) CHECK(a.scale == b.scale);
    };
    auto const cost = affine_cost(1, 640);
    same(cat{ef_sgd{top_k{1}}}, ef_sgd{best_level{top_k{1}}});
    same(cat{ef_sgd{top_k{1}, {.step = .01}}, cost}, ef_sgd{best_level{top_k{1}, cost}, {.step = .01}});
    same(cat{ef_sgd{top_k{1} | scaled_sign{}, {.step = step_size{1, true}}}, cost},
         ef_sgd{best_level{top_k{1} | scaled_sign{}, cost}, {.step = step_size{1, true}}});
    auto const step = [&](auto const& m) { return composed(m, p).scale; };
    // 67 bits each: (67 + 640) / (6 * 67 + 640) is kept, at least.
    double const delta = 707. / 1042;
    CHECK(step(cat{ef_sgd{top_k{1}}, cost}) ==
          doctest::Approx(std::min(1 / (4 * p.smoothness),
                                   delta / (14 * std::sqrt((1 - delta) * p.smoothness * p.largest_smoothness)))));
    // Up to 65536 numbers are sorted, more are not, which keeps 0.99 of that: d (64 + 16) bits cost as much as the
    // message here and d (64 + 17), so that (80 + 80 d) / (160 d) and 0.99 (81 + 81 d) / (162 d) are kept; / 14 sqrt(1
    // - it), with L = max L_i = 1.
    CHECK(composed(cat{ef_sgd{top_k{1}}, affine_cost(1, 80 * 65536.)}, problem{65536, 3, 1, .1, 1, 1}).scale ==
          doctest::Approx(0.0505087833).epsilon(1e-8));
    CHECK(composed(cat{ef_sgd{top_k{1}}, affine_cost(1, 81 * 65537.)}, problem{65537, 3, 1, .1, 1, 1}).scale ==
          doctest::Approx(0.0497555291).epsilon(1e-8));
    CHECK(step(cat{ef_sgd{top_k{1}}, cost}) > 5 * step(ef_sgd{top_k{1}}));
    CHECK(step(cat{ef_sgd{top_k{1} | scaled_sign{}}, cost}) > 2 * step(ef_sgd{top_k{1} | scaled_sign{}}));
}

TEST_CASE("two are equal where all but the level is, which the method chooses") {
    CHECK(cat{diana{rand_k{1}}} == cat{diana{rand_k{2}}});
    CHECK_FALSE(cat{diana{rand_k{1}}} == cat{diana{rand_k{1}}, affine_cost(1, 1)});
    CHECK_FALSE(cat{diana{rand_k{1}}} == cat{diana{rand_k{1}, {.step = .1}}});
    CHECK(cat{ef_sgd{top_k{1}}} == cat{ef_sgd{top_k{2}}});
    CHECK_FALSE(cat{ef_sgd{top_k{1}}} == cat{ef_sgd{top_k{1}, {.step = .1}}});
    CHECK(cat{top_k{1}} == cat{top_k{2}});
    CHECK_FALSE(cat{top_k{1}} == cat{top_k{1}, affine_cost(1, 1)});
    CHECK_FALSE(cat{top_k{1}} == cat{top_k{1}, {}, {.step = .1}});
}
