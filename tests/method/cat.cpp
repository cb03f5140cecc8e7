// SPDX-License-Identifier: Apache-2.0
// best_rand_k finds the k of least guaranteed cost, against formulas of its own and against every other k.
#include "laconic/method/cat.hpp"

#include "support/everything.hpp"
#include "support/tasks.hpp"

static_assert(detail::GuaranteedByRandK<diana<rand_k<>>> && detail::GuaranteedByRandK<vr_diana<rand_k<natural>>>);
static_assert(detail::GuaranteedByRandK<vr_diana_saga<rand_k<>>>);
static_assert(!detail::GuaranteedByRandK<diana<natural>> && !detail::GuaranteedByRandK<diana<rand_k<rand_k<>>>>);

// The share by which V falls in a round, from the theorems: theorem 1 of DIANA for its own memory rate, and VR-DIANA's.
double diana_rate(double k, double rounding, problem const& p) {
    double const omega = double(p.dimension) / k * (1 + rounding) - 1, mu = p.least_strong_convexity;
    return std::min(1 / (2 * (1 + omega)),
                    2 * mu / ((p.largest_smoothness + mu) * (1 + 2 * omega / double(p.workers))));
}
double vr_diana_rate(double k, double rounding, problem const& p) {
    double const all = double(p.dimension) / k * (1 + rounding);
    double const step = 1 / (p.largest_sample_smoothness * (1 + 36 * all / double(p.workers)));
    return std::min({step * p.strong_convexity, 1 / (2 * all), 3 / (8 * double(p.samples))});
}

// That k has the best of all ratios, and none before it.
void is_best(std::size_t k, std::size_t d, std::function<double(double)> const& rate,
             std::function<double(double)> const& cost) {
    auto const worth = [&](std::size_t j) { return -std::log(1 - rate(double(j))) / cost(double(j)); };
    REQUIRE((k >= 1 && k <= d));
    for (std::size_t j = 1; j <= d; ++j) CHECK(worth(j) <= worth(k) * (1 + 1e-11));
    for (std::size_t j = 1; j < k; ++j) CHECK(worth(j) < worth(k) * (1 + 1e-14));
}

// Costs of a message of so many bits, as they are defined, and as the library has them.
struct two_costs {
    message_cost library;
    std::function<double(double)> defined;
};
std::vector<two_costs> costs_of_both_ways() {
    return {{{}, [](double bits) { return bits; }},
            {affine_cost(2, 640), [](double bits) { return 2 * bits + 640; }},
            {affine_cost(1, 1e5), [](double bits) { return bits + 1e5; }},
            {packet_cost(20, 4, 10), [](double bits) { return 24 * std::ceil(bits / 160) + 10; }},
            {packet_cost(100, 50, 0), [](double bits) { return 150 * std::ceil(bits / 800); }}};
}

TEST_CASE("k is the best of all, tried one by one, whatever the cost") {
    for (std::size_t const d : {1u, 13u, 100u, 501u})
        for (int const n : {1, 3, 30})
            for (double const mu : {1e-6, .05, 4.}) {
                problem const p{d, n, 5, mu, 6, 5.5, mu, 40, 9};
                CAPTURE(d);
                CAPTURE(n);
                CAPTURE(mu);
                for (auto const& cost : costs_of_both_ways()) {
                    auto const& library = cost.library;
                    CAPTURE(to_string(library));
                    auto const in_full = [&](double k) { return cost.defined(64 * k); };
                    auto const rounded = [&](double k) { return cost.defined(8 * std::ceil(9 * k / 8)); };
                    is_best(
                        detail::best_rand_k<double>(diana{rand_k{}}, library, p), d,
                        [&](double k) { return diana_rate(k, 0, p); }, in_full);
                    is_best(
                        detail::best_rand_k<float>(diana{rand_k{} | natural{}}, library, p), d,
                        [&](double k) { return diana_rate(k, .125, p); }, rounded);
                    is_best(
                        detail::best_rand_k<double>(vr_diana{rand_k{}}, library, p), d,
                        [&](double k) { return vr_diana_rate(k, 0, p); }, in_full);
                    CHECK(detail::best_rand_k<double>(vr_diana{rand_k{}}, library, p) ==
                          detail::best_rand_k<double>(vr_diana_saga{rand_k{}}, library, p));
                }
            }
}

// Where mu is small a round is worth 2 mu / (L (1 + 2 (d/k - 1) / n)). A message of k numbers and of c more then costs
// the least for k = sqrt(2 d c / (n - 2)).
TEST_CASE("closed forms: many workers, two, one") {
    auto const k = [](int n, message_cost const& cost) {
        return detail::best_rand_k<double>(diana{rand_k{}}, cost, problem{400, n, 1, 1e-9, 1, 1, 1e-9});
    };
    CHECK(k(10, affine_cost(1, 36 * 64)) == 60);
    CHECK(k(10, {}) == 1);
    CHECK(k(10, affine_cost(0, 1)) == 400);
    CHECK(k(1, {}) == 400);                       // k / (k + 2 (d - k)) grows faster than k
    CHECK(k(10, packet_cost(512, 64, 0)) == 64);  // one full packet
    CHECK(k(10, affine_cost(0, 0)) == 400);       // where nothing costs, the rate counts
}

// d = 8, 36 workers, m = 6: the rates are min(k / (2 k + 16), k / 16, 1 / 16), the same from k = 2 on.
TEST_CASE("vr_diana: no more is sent than what the samples can use") {
    problem const p{8, 36, 1, .5, 1, 1, .5, 6, 1};
    auto const k = [&](message_cost const& cost) { return detail::best_rand_k<double>(vr_diana{rand_k{}}, cost, p); };
    CHECK(guaranteed_rate(vr_diana{rand_k{1}}, p) == doctest::Approx(1. / 18));
    for (double const level : {2., 3., 8.})
        CHECK(guaranteed_rate(vr_diana{rand_k{level}}, p) == doctest::Approx(1. / 16));
    CHECK(k({}) == 1);
    CHECK(k(affine_cost(1, 640)) == 2);
    CHECK(k(affine_cost(0, 1)) == 2);
}

TEST_CASE("vr_diana: the rate is the least of the step's, the memory's and the samples'") {
    problem const p{100, 1000, 1, .5, 1, 1, .5, 1, 1};
    auto const rate = [&](std::size_t k, overrides const& given = {}) {
        return guaranteed_rate(vr_diana{rand_k{k}, given}, p);
    };
    CHECK(rate(10) == doctest::Approx(1. / 20));
    CHECK(rate(100) == doctest::Approx(3. / 8));
    CHECK(rate(100, {.step = .25}) == doctest::Approx(1. / 8));
    CHECK(rate(100, {.memory = .5}) == doctest::Approx(1. / 4));
    CHECK(rate(50, {.memory = .6}) == 0);
}

// d = 4, three workers, L = 3, mu = 1: step and rate are k / 8.
TEST_CASE("numbers that are given: those k compete that the theorem covers with them") {
    problem const p{4, 3, 3, 1, 3, 3, 1};
    auto const k = [&](overrides const& given) {
        return detail::best_rand_k<double>(diana{rand_k{}, given}, message_cost{}, p);
    };
    CHECK(k({}) == 4);
    CHECK(k({.step = .125}) == 1);
    CHECK(k({.step = .126}) == 2);
    CHECK(k({.step = step_size{1.2, true}}) == 4);
    CHECK(k({.step = .01}) == 1);
    CHECK(k({.memory = .25}) == 2);  // from there on the memory alone limits the step
    CHECK(k({.memory = .9}) == 4);
    CHECK(k({.step = .3, .memory = .5}) == 3);
    CHECK_THROWS_WITH_AS(k({.step = .6}), doctest::Contains("with step = 0.6 its theorem covers no k"), theory_error);
    CHECK_THROWS_WITH_AS(k({.memory = 1.5}), doctest::Contains("memory rate 1.5 is outside (0, 1]"), argument_error);
    CHECK_THROWS_AS(k({.memory = -.5}), argument_error);
    CHECK_THROWS_AS(k({.memory = std::nan("")}), argument_error);
    CHECK_THROWS_AS(k({.step = 0.}), argument_error);
    auto const vr = [&](overrides const& given) {
        problem q = p;
        q.samples = 5;
        q.largest_sample_smoothness = 3;
        return detail::best_rand_k<double>(vr_diana{rand_k{}, given}, message_cost{}, q);
    };
    double const at_2 = 1 / (3 * (1 + 36 * 2. / 3));
    CHECK(vr({.step = at_2}) == 2);
    CHECK(vr({.step = at_2 * 1.001}) == 3);
    CHECK(vr({.memory = .6, .batch = 1}) >= 3);
}

TEST_CASE("a constant that is not known is refused by name") {
    auto const refused = [](auto const& m, problem const& p, char const* why) {
        CHECK_THROWS_WITH_AS(detail::best_rand_k<double>(m, message_cost{}, p), doctest::Contains(why), theory_error);
    };
    problem const whole{8, 5, 4, .5, 9, 6, .25, 7, 12};
    auto const without = [&](auto member) {
        auto p = whole;
        p.*member = 0;
        return p;
    };
    diana const d{rand_k{}};
    CHECK_NOTHROW(detail::best_rand_k<double>(d, message_cost{}, whole));
    refused(d, without(&problem::least_strong_convexity), "needs min mu_i");
    refused(d, without(&problem::largest_smoothness), "max L_i");
    refused(d, without(&problem::dimension), "dimension, which is not known");
    refused(diana{rand_k{}, {.batch = 2}}, whole, "floor");
    auto p = whole;
    p.least_strong_convexity = std::numeric_limits<double>::infinity();
    refused(d, p, "needs min mu_i");
    vr_diana const v{rand_k{}};
    CHECK_NOTHROW(detail::best_rand_k<double>(v, message_cost{}, without(&problem::least_strong_convexity)));
    refused(v, without(&problem::strong_convexity), "vr_diana: its rate, for which k is chosen, needs mu");
    refused(v, without(&problem::samples), "number of samples");
    refused(v, without(&problem::largest_sample_smoothness), "max L_ij");
    refused(vr_diana_saga{rand_k{}}, without(&problem::samples), "vr_diana_saga: its rate");
    refused(vr_diana{rand_k{}, {.batch = 2}}, whole, "batches of one row");
    CHECK_NOTHROW(detail::best_rand_k<double>(vr_diana{rand_k{}, {.batch = 1}}, message_cost{}, whole));
}

// CAT takes the level of most progress per cost, keeps the descent lemma, and composes with DIANA and EF-SGD.

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
