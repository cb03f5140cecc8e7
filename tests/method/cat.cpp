// SPDX-License-Identifier: Apache-2.0
// CAT takes the level of most progress per cost, keeps the descent lemma, and composes with DIANA and EF-SGD.
#include "laconic/method/cat.hpp"

#include "laconic/method/ef21.hpp"
#include "laconic/method/gd.hpp"
#include "laconic/method/quantized_gd_sec.hpp"
#include "support/real_data.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace toys;

static_assert(Method<cat<ef_sgd<top_k<>>>> && Method<cat<top_k<>>> && Method<cat<diana<rand_k<>>>, float>);

namespace {

template <class C>
using message_at_a_level = message_of<best_level<C>, double>;

template <class Run>
vec decoded_message(Run const& run) {
    host on;
    vec m(run.x().size(), 0.0);
    add_message(on, std::span<double>(m), 1.0, run.message_of_rank(0));
    return m;
}

// What is seen of a run on one worker: how many levels were chosen, and by how much the lemmas were the sharpest.
struct seen {
    std::set<std::size_t> levels;
    double sharpest = 0;  // of the least fall that is promised for a round and the fall that came
};

// The descent lemma in every round and its product over the rounds, with the shares q that the messages themselves
// kept: f(x+) <= f(x) - q |grad f(x)|^2 / (2L), f(x^k) - f* <= prod (1 - q mu/L) (f(x^0) - f*).
template <class C, class F>
seen falls(C const& c, message_cost const& cost, std::vector<F> const& f, problem const& p, double least, vec const& x0,
           int rounds) {
    lockstep run(composed(cat{c, cost}, p), f, x0, 1);
    double const at_first = f[0].value(x0), rounding = 1e-14 * std::abs(at_first);
    double value = at_first, product = 1;
    seen result;
    for (int k = 0; k < rounds; ++k) {
        auto const g = gradients(f, run.x())[0];
        run.round();
        double const q = 1 - distance2(decoded_message(run), g) / norm2(g);
        double const promise = q * norm2(g) / (2 * p.smoothness), next = f[0].value(run.x());
        REQUIRE(q >= 1. / double(g.size()) - 1e-14);
        REQUIRE(next <= value - promise + rounding);
        if (promise > 1e6 * rounding) result.sharpest = std::max(result.sharpest, promise / (value - next));
        product *= 1 - q * p.strong_convexity / p.smoothness;
        REQUIRE(next - least <= product * (at_first - least) + rounding);
        result.levels.insert(run.message_of_rank(0).template get<message_at_a_level<C>>().level);
        value = next;
    }
    return result;
}

}  // namespace

// f = (x_1^2 + 2 x_2^2 + 4 x_3^2) / 2 from (1, 1, 1), and 66 bits a number. With 200 for the message two numbers are
// worth more than one until the second is small.
TEST_CASE("a worked example: two, two, two, then one") {
    workers const f{{Eigen::Vector3d(1, 2, 4).asDiagonal().toDenseMatrix(), Eigen::Vector3d::Zero(), 0}};
    lockstep run(composed(cat{top_k{1}, affine_cost(1, 200)}, f), f, vec(3, 1.0), 1);
    for (auto const& [level, x] : {std::pair<std::size_t, vec>{2, {1, .5, 0}},
                                   {2, {.75, .25, 0}},
                                   {2, {.5625, .125, 0}},
                                   {1, {.421875, .125, 0}}}) {
        run.round();
        CHECK(run.message_of_rank(0).get<message_at_a_level<top_k<>>>().level == level);
        CHECK(run.x() == x);
    }
    // S + Q about (3, 4): both as 3.5, for 68 bits where one takes 66.
    workers const g{{Eigen::Matrix2d::Identity(), Eigen::Vector2d::Zero(), 0}};
    lockstep signs(composed(cat{top_k{1} | scaled_sign{}}, g), g, {3, 4}, 1);
    signs.round();
    CHECK(signs.x() == vec{-.5, .5});
}

TEST_CASE("f = L |x|^2 / 2: each round, and all of them, fall by exactly what the lemma promises") {
    workers const f{{2.5 * Eigen::MatrixXd::Identity(8, 8), Eigen::VectorXd::Zero(8), 0}};
    auto const p = constants(f);
    CHECK(p.strong_convexity == doctest::Approx(p.smoothness));
    vec const x0{4, -3, 2, 1, -.5, .25, .125, 7};
    auto const equals = [&](auto const& c, message_cost const& cost) {
        lockstep run(composed(cat{c, cost}, p), f, x0, 1);
        double product = 1;
        for (int k = 0; k < 4; ++k) {
            auto const g = gradients(f, run.x())[0];
            if (k > 1 && norm2(g) == 0) break;  // it is there
            double const value = f[0].value(run.x());
            run.round();
            double const q = 1 - distance2(decoded_message(run), g) / norm2(g);
            product *= 1 - q;
            CHECK(f[0].value(run.x()) == doctest::Approx(value - q * norm2(g) / (2 * 2.5)).epsilon(1e-12));
            CHECK(f[0].value(run.x()) == doctest::Approx(product * f[0].value(x0)).epsilon(1e-12));
        }
    };
    equals(top_k{1}, {});
    equals(top_k{1} | scaled_sign{}, packet_cost(20, 4, 1));
    equals(top_blocks{1, 3}, affine_cost(1, 640));
}

TEST_CASE("the descent lemma in every round of ridge regressions, whatever the cost") {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        CAPTURE(seed);
        auto const f = random_ridges(1, 8, 1, seed);
        auto const p = constants(f);
        double const least = known_optimum(f).value;
        for (auto const& cost :
             {message_cost{}, affine_cost(1, 256), packet_cost(20, 4, 1), energy_cost(1, 100, 32, 0)})
            for (auto const& s : {falls(top_k{1}, cost, f, p, least, vec(8, 1.0), 60),
                                  falls(top_k{1} | scaled_sign{}, cost, f, p, least, vec(8, 1.0), 60),
                                  falls(top_blocks{1, 2}, cost, f, p, least, vec(8, 1.0), 60)})
                CHECK(s.sharpest > .3);  // the lemma is not void
        CHECK(falls(top_k{1}, affine_cost(1, 256), f, p, least, vec(8, 1.0), 60).levels.size() > 2);
        CHECK(falls(top_k{1}, {}, f, p, least, vec(8, 1.0), 60).levels == std::set<std::size_t>{1});
    }
}

TEST_CASE("real data: the descent lemma in every round on heart_scale") {
    auto const real = real_data(1);
    if (!real) return;
    auto const run = [&](auto const& c, message_cost const& cost) {
        return falls(c, cost, real->f, real->p, real->best.value, vec(13, 0.0), 200);
    };
    for (auto const& s : {run(top_k{1}, affine_cost(1, 256)), run(top_k{1} | scaled_sign{}, packet_cost(20, 4, 1)),
                          run(top_blocks{1, 4}, affine_cost(1, 256))}) {
        CHECK(s.levels.size() > 1);
        CHECK(s.sharpest > .3);
    }
}

TEST_CASE("a constant cost: gradient descent, bit for bit; a cost in bits: the largest number alone") {
    auto const f = random_ridges(1, 6, 1, 4);
    auto const same = [&](auto const& a, auto const& b) {
        auto const first = history(composed(a, f), f, vec(6, 1.0), 40),
                   second = history(composed(b, f), f, vec(6, 1.0), 40);
        for (std::size_t k = 0; k <= 40; ++k) REQUIRE(first[k].x == second[k].x);
    };
    same(cat{top_k{1}, affine_cost(0, 1)}, gd{});
    same(cat{top_blocks{1, 4}, affine_cost(0, 1)}, gd{});
    same(cat{top_k{1}}, dcgd{top_k{1}});
}

TEST_CASE("several workers: each at its own level, with a step that is given") {
    auto const f = around({{100, 1, 1, 1}, {1, 1, 1, 1}});
    cat const method{top_k{1}, affine_cost(1, 64), {.step = .5}};
    lockstep run(composed(method, f), f, vec(4, 0.0), 1);
    run.round();
    auto const level = [&](std::size_t i) { return run.message_of_rank(i).get<message_at_a_level<top_k<>>>().level; };
    CHECK(level(0) == 1);
    CHECK(level(1) == 4);
    CHECK(run.x() == vec{25.25, .25, .25, .25});
}

TEST_CASE("inside ef21 the levels are chosen alike, and its theorem has the delta of the lowest") {
    auto const f = random_ridges(3, 6, 1, 2);
    best_level const c{top_k{1}, affine_cost(1, 256)};
    auto const r = composed(ef21{c}, f);
    CHECK(r.step.rate == composed(ef21{top_k{1}}, f).step.rate);
    known_optimum const best(f);
    auto const whole = mean_of(f);
    lockstep run(r, f, vec(6, 1.0), 1);
    double const before = whole.value(run.x()) - best.value;
    run.rounds(400);
    double const mu = constants(f).strong_convexity, gap = whole.value(run.x()) - best.value;
    CHECK(gap < before * std::pow(1 - r.step.rate * mu, 200));
}

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
    CHECK_THROWS_WITH_AS(composed(cat{diana{rand_k{}}}, problem{8, 5, 4, .5, 9, 6}), doctest::Contains("min mu_i"),
                         theory_error);
}

namespace {

// After how many rounds f is within `share` of its first distance to the least value.
template <class M, class F>
int rounds_to(double share, M const& m, std::vector<F> const& f, problem const& p, double least) {
    lockstep run(composed(m, p), f, vec(p.dimension, 0.0), 1);
    double const goal = share * (mean_value(f, run.x()) - least);
    int k = 0;
    for (; mean_value(f, run.x()) - least > goal && k < 100000; k += 10) run.rounds(10);
    return k;
}

// The cost of 1e-6 of the first distance with the k that is chosen, over that with the best k of all.
template <class F>
void little_is_lost(std::vector<F> const& f, problem const& p, known_optimum const& best) {
    auto const d = p.dimension;
    std::vector<int> rounds;
    for (std::size_t k = 1; k <= d; ++k) rounds.push_back(rounds_to(1e-6, diana{rand_k{k}}, f, p, best.value));
    std::set<std::size_t> chosen;
    for (auto const& cost : {message_cost{}, affine_cost(1, 640), packet_cost(20, 4, 10), packet_cost(512, 64, 60)}) {
        CAPTURE(to_string(cost));
        auto const spent = [&](std::size_t k) { return rounds[k - 1] * cost(64. * double(k)); };
        double least = spent(1), most = spent(1);
        for (std::size_t k = 2; k <= d; ++k) least = std::min(least, spent(k)), most = std::max(most, spent(k));
        auto const k = cat{diana{rand_k{}}, cost}.level(p);
        chosen.insert(k);
        CHECK(spent(k) <= 1.1 * least);
        CHECK(most > 1.5 * least);  // it matters
    }
    CHECK(chosen.size() >= 3);
    cat const m{diana{rand_k{}}, affine_cost(1, 640)};
    CHECK(rounds_to(1e-10, m, f, p, best.value) < 3 * rounds[m.level(p) - 1]);
}

}  // namespace

TEST_CASE("of rand_k: measured, 1e-6 costs at most a tenth more than with the best k of all; 1e-10 is reached") {
    for (int const n : {3, 10}) {
        CAPTURE(n);
        auto const f = random_ridges(n, 12, 1, 11);
        little_is_lost(f, constants(f), known_optimum(f));
    }
    if (auto const real = real_data(10)) little_is_lost(real->f, real->p, real->best);
}

TEST_CASE("of ef_sgd: that of best_level, with a longer step where messages as such cost") {
    auto const f = random_ridges(4, 6, 1, 2);
    auto const p = constants(f);
    auto const same = [&](auto const& tuned, auto const& plain) {
        auto const a = history(composed(tuned, p), f, vec(6, 1.0), 20),
                   b = history(composed(plain, p), f, vec(6, 1.0), 20);
        for (std::size_t k = 0; k <= 20; ++k) {
            REQUIRE(a[k].x == b[k].x);
            REQUIRE(a[k].bytes == b[k].bytes);
        }
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
    CHECK_THROWS_WITH_AS(composed(cat{ef_sgd{top_k{1}}}, problem{8, 1}), doctest::Contains("cat(ef_sgd)"),
                         theory_error);
    CHECK_THROWS_AS(composed(cat{ef_sgd{top_k{1}, {.batch = 2}}}, p), theory_error);
    CHECK_THROWS_AS(composed(cat{ef_sgd{top_k{1}, {.memory = .5}}}, p), argument_error);
}

namespace {

// By how much V+ is above (1 - min(step mu / 2, delta / 4)) V + floor, ef_sgd's inequality, in the worst of some
// rounds, with the delta of guaranteed_share; and that V comes down.
template <class C, class F>
double excess(C const& c, message_cost const& cost, std::vector<F> const& f, problem const& p,
              known_optimum const& best, double away) {
    double const n = double(f.size()), delta = guaranteed_share<double>(c, cost, p.dimension), l = p.smoothness;
    auto const r = composed(cat{ef_sgd{c}, cost}, p);
    double const step = r.scale, fall = std::min(step * p.strong_convexity / 2, delta / 4);
    double const floor = 48 * step * step * step * l * (1 - delta) / (delta * delta) * best.disagreement();
    lockstep run(r, f, vec(p.dimension, away), 1);
    auto const lyapunov = [&] {
        vec moved = run.x();
        double errors = 0;
        for (std::size_t i = 0; i < f.size(); ++i) {
            for (std::size_t j = 0; j < moved.size(); ++j) moved[j] -= run.residual(i)[j] / n;
            errors += norm2(run.residual(i)) / n;
        }
        return distance2(moved, best.x) + 12 * step * l / delta * errors;
    };
    double v = lyapunov(), worst = -1e300;
    double const first = v;
    for (int k = 0; k < 300; ++k) {
        run.round();
        double const next = lyapunov();
        worst = std::max(worst, next - ((1 - fall) * v + floor));
        v = next;
    }
    CHECK(v < first + floor);
    return worst;
}

}  // namespace

TEST_CASE("of ef_sgd: its theorem's inequality holds every round with the longer step") {
    for (int const n : {1, 4})
        for (double const away : {.01, 1., 100.}) {
            CAPTURE(n);
            CAPTURE(away);
            auto const f = random_ridges(n, 6, 1, 3);
            auto const p = constants(f);
            known_optimum const best(f);
            for (auto const& cost : {message_cost{}, affine_cost(1, 640), packet_cost(20, 4, 100)}) {
                CHECK(excess(top_k{1}, cost, f, p, best, away) <= 1e-12 * away * away);
                CHECK(excess(top_k{1} | scaled_sign{}, cost, f, p, best, away) <= 1e-12 * away * away);
            }
        }
    if (auto const real = real_data(10)) {
        CHECK(excess(top_k{1}, affine_cost(1, 640), real->f, real->p, real->best, 0) <= 1e-13);
        CHECK(excess(top_k{1} | scaled_sign{}, packet_cost(512, 64, 60), real->f, real->p, real->best, 0) <= 1e-13);
    }
}

TEST_CASE("of ef_sgd: on one worker steps of 1 / L come to the optimum, by several levels where a message costs") {
    auto const f = random_ridges(1, 8, 1, 2);
    known_optimum const best(f);
    auto const comes = [&](auto const& c, message_cost const& cost) {
        lockstep run(composed(cat{ef_sgd{c, {.step = step_size{1, true}}}, cost}, f), f, vec(8, 1.0), 1);
        std::set<std::size_t> levels;
        for (int k = 0; k < 3000; ++k) {
            run.round();
            levels.insert(
                run.message_of_rank(0).template get<message_at_a_level<std::remove_cvref_t<decltype(c)>>>().level);
        }
        CHECK(f[0].value(run.x()) - best.value < 1e-10 * (f[0].value(vec(8, 1.0)) - best.value));
        return levels.size();
    };
    comes(top_k{1}, {});
    CHECK(comes(top_k{1}, affine_cost(1, 256)) > 2);
    CHECK(comes(top_k{1} | scaled_sign{}, affine_cost(1, 256)) > 2);
    CHECK(comes(top_blocks{1, 2}, packet_cost(20, 4, 10)) > 1);
}

TEST_CASE("inside quantized_gd_sec: the levels of what passes the threshold, and the rest is kept and sent later") {
    auto const f = random_ridges(3, 6, 1, 2);
    auto const p = constants(f);
    best_level const c{top_k{1}, affine_cost(1, 100)};
    lockstep run(composed(quantized_gd_sec{c, 1, {.step = step_size{.3, true}, .memory = .1}}, p), f, vec(6, 1.0), 1);
    known_optimum const best(f);
    auto const gap = [&] { return mean_value(f, run.x()) - best.value; };
    double const before = gap();
    run.rounds(3000);
    CHECK(gap() < 1e-4 * before);
}

TEST_CASE("the step of the theorem, and what is refused") {
    problem const one{8, 1, 4, .5, 4, 4}, five{8, 5, 4, .5, 9, 6};
    CHECK(composed(cat{top_k{1}}, one).step.rate == 1. / 4);
    CHECK(composed(cat{top_k{1} | scaled_sign{}, {}, {.step = step_size{.5, true}}}, one).step.rate == .5 / 4);
    CHECK(composed(cat{top_k{1}, {}, {.step = .125}}, five).step.rate == .125);
    CHECK_THROWS_WITH_AS(composed(cat{top_k{1}}, five), doctest::Contains("cat: best_level(top_k) is biased"),
                         theory_error);
    CHECK_THROWS_WITH_AS(composed(cat{top_k{1}, {}, {.batch = 2}}, one), doctest::Contains("is biased"), theory_error);
    CHECK_THROWS_WITH_AS(composed(cat{top_k{1}}, problem{8, 1}), doctest::Contains("smoothness L"), theory_error);
    CHECK_THROWS_AS(composed(cat{top_k{1}, {}, {.memory = .5}}, one), argument_error);
    CHECK_THROWS_AS(composed(cat{top_k{1}, {}, {.step = 0.}}, one), argument_error);
}

TEST_CASE("its text has its arguments") {
    CHECK(to_string(cat{top_k{7}}) == "cat(top_k)");
    CHECK(to_string(cat{top_k{1} | scaled_sign{}, packet_cost(512, 64, 60)}) ==
          "cat(top_k | scaled_sign, cost=packets(512, 64, 60))");
    CHECK(to_string(cat{top_blocks{1, 64}, affine_cost(1, 640), {.step = step_size{.5, true}}}) ==
          "cat(top_blocks(block=64), cost=affine(1, 640), step=0.5/L)");
    CHECK(to_string(cat{diana{rand_k{7} | natural{}, {.step = .1}}, affine_cost(1, 640)}) ==
          "cat(diana(rand_k | natural, step=0.1), cost=affine(1, 640))");
    CHECK(to_string(cat{vr_diana_saga{rand_k{7}}}) == "cat(vr_diana_saga(rand_k))");
    CHECK(to_string(cat{ef_sgd{top_k{7} | scaled_sign{4}, {.step = step_size{1, true}}}}) ==
          "cat(ef_sgd(top_k | scaled_sign(bucket=4), step=1/L))");
    CHECK(cat{diana{rand_k{1}}} == cat{diana{rand_k{2}}});
    CHECK_FALSE(cat{diana{rand_k{1}}} == cat{diana{rand_k{1}}, affine_cost(1, 1)});
    CHECK_FALSE(cat{diana{rand_k{1}}} == cat{diana{rand_k{1}, {.step = .1}}});
    CHECK(cat{ef_sgd{top_k{1}}} == cat{ef_sgd{top_k{2}}});
    CHECK_FALSE(cat{ef_sgd{top_k{1}}} == cat{ef_sgd{top_k{1}, {.step = .1}}});
    CHECK(cat{top_k{1}} == cat{top_k{2}});
    CHECK_FALSE(cat{top_k{1}} == cat{top_k{1}, affine_cost(1, 1)});
    CHECK_FALSE(cat{top_k{1}} == cat{top_k{1}, {}, {.step = .1}});
}
