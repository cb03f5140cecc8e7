// SPDX-License-Identifier: Apache-2.0
// error_feedback with momentum is the loop of Deep Gradient Compression, in each kind of step, and its residual can be
// read and set.
#include "laconic/any/parse_reduction.hpp"
#include "laconic/collective/dense/two_shot.hpp"
#include "laconic/comm/fibers.hpp"
#include "laconic/optim/adam.hpp"
#include "laconic/reducer.hpp"
#include "support/everything.hpp"

using vec = std::vector<double>;
using how_type = error_feedback<top_k<>>;

constexpr std::size_t d = 23, k = 3;
constexpr int ranks = 3, steps = 14;

double gradient_at(int rank, int step, std::size_t i) {
    return 2 * key{7}.child(std::uint64_t(rank)).child(std::uint64_t(step)).uniform(i) - 1 + 0.05 * double(i % 5);
}
vec gradient_of(int rank, int step) {
    vec g(d);
    for (std::size_t i = 0; i < d; ++i) g[i] = gradient_at(rank, step, i);
    return g;
}
template <class X>
vec copied(X const& x) {
    return {x.begin(), x.end()};
}

// The options of a step, by its number.
using options_of = std::function<step_options(int rank, int step)>;

struct outcome {
    std::vector<vec> estimates;           // by step
    std::vector<vec> residuals, momenta;  // by rank, after the last step
};

// The equations by plain loops, with nothing of the library in them.
outcome by_hand(how_type const& how, options_of const& options, int dense_rounds, std::size_t sent = k) {
    outcome all;
    all.residuals.assign(ranks, vec(d)), all.momenta = all.residuals;
    double last_rate = 0;
    for (int s = 0; s < steps; ++s) {
        vec estimate(d);
        double weights = 0;
        for (int r = 0; r < ranks; ++r) weights += options(r, s).weight;
        auto const rate = options(0, s).step_size;
        double const waited = rate && last_rate > 0 ? last_rate / *rate : 1;
        bool const dense = s < dense_rounds || options(0, s).dense;
        for (int r = 0; r < ranks; ++r) {
            auto &u = all.momenta[std::size_t(r)], &v = all.residuals[std::size_t(r)];
            double const share = options(r, s).weight * ranks / weights;
            for (std::size_t i = 0; i < d; ++i) {
                u[i] = how.momentum * u[i] + (how.common ? 1 - how.momentum : 1) * share * gradient_at(r, s, i);
                v[i] = how.decay * waited * v[i] + u[i];
            }
            std::vector<std::size_t> places(d);
            std::iota(places.begin(), places.end(), std::size_t{0});
            std::stable_sort(places.begin(), places.end(),
                             [&](auto a, auto b) { return std::abs(v[a]) > std::abs(v[b]); });
            if (!dense) places.resize(sent);
            for (auto const i : places) {
                estimate[i] += v[i] / ranks;
                v[i] = 0;
                if (how.masked && !dense) u[i] = 0;
            }
        }
        if (how.common) all.momenta.assign(ranks, estimate);
        last_rate = rate.value_or(last_rate);
        for (auto& x : estimate) x *= options(0, s).loss_scale;
        all.estimates.push_back(estimate);
    }
    return all;
}

template <class How>
outcome by_reducer(How const& how, options_of const& options, reducer_options const& all_steps) {
    outcome all;
    all.residuals.resize(ranks), all.momenta.resize(ranks), all.estimates.resize(steps);
    fibers::run(ranks, [&](fibers::member& comm) {
        auto const me = std::size_t(comm.rank());
        reducer<How, fibers::member, double> reduce(how, comm, d, all_steps);
        for (int s = 0; s < steps; ++s) {
            auto const now = options(comm.rank(), s);
            auto g = gradient_of(comm.rank(), s);
            for (auto& x : g) x *= now.loss_scale;
            reduce(g, now);
            if (me == 0) all.estimates[std::size_t(s)] = g;
        }
        auto const& memory = reduce.layers()[0].feedback();
        all.residuals[me] = copied(memory.residual()), all.momenta[me] = copied(memory.momentum());
    });
    return all;
}
void check_same(outcome const& a, outcome const& b) {
    auto const same = [](std::vector<vec> const& x, std::vector<vec> const& y) {
        REQUIRE(x.size() == y.size());
        for (std::size_t r = 0; r < x.size(); ++r) {
            REQUIRE(x[r].size() == y[r].size());
            for (std::size_t i = 0; i < x[r].size(); ++i) CHECK(x[r][i] == doctest::Approx(y[r][i]).epsilon(1e-12));
        }
    };
    same(a.estimates, b.estimates), same(a.residuals, b.residuals), same(a.momenta, b.momenta);
}

how_type with_momentum(double decay, double m, bool masked) { return {top_k{k}, decay, {}, m, masked}; }

step_options same_in_all(int, int) { return {}; }
step_options all_differ(int rank, int step) {
    return {.loss_scale = step % 3 == 0 ? 8.0 : 0.5,
            .step_size = step < 5 ? 0.5 : 0.2,
            .weight = double(rank + step % 2),
            .dense = step == 9};
}

TEST_CASE("momentum: the estimates, residuals and momenta are those of a plain loop") {
    for (bool const masked : {true, false})
        for (double const decay : {1.0, 0.8, 0.0})
            for (double const m : {0.9, 0.5, 0.0}) {
                auto const how = with_momentum(decay, m, masked);
                auto expected = by_hand(how, same_in_all, 2);
                if (m == 0) expected.momenta.assign(ranks, {});
                if (decay == 0) expected.residuals.assign(ranks, {});
                check_same(by_reducer(how, same_in_all, {.seed = 0, .dense_rounds = 2}), expected);
            }
}

TEST_CASE("momentum: loss scales, step sizes that change, weights and dense steps: u is in units of the gradient") {
    for (bool const masked : {true, false}) {
        auto const how = with_momentum(1, 0.9, masked);
        check_same(by_reducer(how, all_differ, {.seed = 0, .steps_vary = true}), by_hand(how, all_differ, 0));
    }
}

TEST_CASE("a common momentum is the last estimate, which each rank's message continues, dense steps among them") {
    for (double const decay : {1.0, 0.8}) {
        how_type const how{top_k{k}, decay, {}, 0.9, true, true};
        check_same(by_reducer(how, same_in_all, {.seed = 0, .dense_rounds = 2}), by_hand(how, same_in_all, 2));
        check_same(by_reducer(how, all_differ, {.seed = 0, .steps_vary = true}), by_hand(how, all_differ, 0));
    }
    auto const parsed = parse_reduction<double>("error_feedback(top_k(3), momentum=0.9, common=yes)");
    reducer_options const options{.seed = 0, .dense_rounds = 1};
    check_same(by_reducer(parsed, same_in_all, options), by_hand({top_k{k}, 1, {}, 0.9, true, true}, same_in_all, 1));
    // Of a layer in full it is the running mean of mean gradients.
    fibers::run(ranks, [&](fibers::member& comm) {
        reducer<decltype(parsed), fibers::member, double> reduce(parsed, comm, d, {.seed = 0, .dense_below = d + 1});
        vec u(d);
        for (int s = 0; s < 4; ++s) {
            auto g = gradient_of(comm.rank(), s);
            reduce(g);
            for (std::size_t i = 0; i < d; ++i) {
                u[i] *= 0.9;
                for (int r = 0; r < ranks; ++r) u[i] += 0.1 * gradient_at(r, s, i) / ranks;
                CHECK(g[i] == doctest::Approx(u[i]).epsilon(1e-12));
            }
        }
    });
}

TEST_CASE("1-bit Adam in a training loop, by signs both ways: nothing is lost, and all ranks have the same model") {
    constexpr std::size_t warm = 20;
    vec optimum(d);
    for (std::size_t i = 0; i < d; ++i)
        for (int r = 0; r < ranks; ++r) optimum[i] += gradient_at(r, 0, i) / ranks;
    auto const distance = [&](vec const& x) {
        double sum = 0;
        for (std::size_t i = 0; i < d; ++i) sum += (x[i] - optimum[i]) * (x[i] - optimum[i]);
        return std::sqrt(sum);
    };
    std::vector<vec> models(ranks), lost(ranks);
    fibers::run(ranks, [&](fibers::member& comm) {
        auto const me = std::size_t(comm.rank());
        vec x(d, 1), g(d), m(d);
        reducer reduce(error_feedback{identity{}, 1, two_shot{scaled_sign{}}, .9, true, true}, comm, x,
                       {.seed = 0, .dense_rounds = warm});
        adam<> step({.rate = .003, .bias_correction = false, .freeze_after = warm});
        host on;
        lost[me].assign(d, 0);
        for (int s = 0; s < 400; ++s) {
            auto const e = copied(reduce.residual(0));
            for (std::size_t i = 0; i < d; ++i) {
                g[i] = (1 + double(i % 3)) * (x[i] - gradient_at(comm.rank(), 0, i));
                lost[me][i] += e[i] + .9 * m[i] + .1 * g[i];
            }
            reduce(g), m = g;
            for (std::size_t i = 0; i < d; ++i) lost[me][i] -= m[i] + reduce.residual(0)[i];
            step(on, std::span(x), std::span(g));
        }
        models[me] = x;
        CHECK(reduce.statistics().bytes_sent < reduce.statistics().bytes_in_full / 4);
    });
    CHECK(models[1] == models[0]);
    CHECK(models[2] == models[0]);
    CHECK(distance(models[0]) < .1 * distance(vec(d, 1)));
    for (std::size_t i = 0; i < d; ++i) CHECK(std::abs(lost[0][i] + lost[1][i] + lost[2][i]) < 1e-9);
}

TEST_CASE("momentum: of a reduction that is chosen at run time, and of messages that do not list their terms") {
    auto const how = with_momentum(1, 0.9, true);
    auto const parsed = parse_reduction<double>("error_feedback(top_k(3), momentum=0.9)");
    reducer_options const options{.seed = 0, .dense_rounds = 1};
    check_same(by_reducer(parsed, same_in_all, options), by_reducer(how, same_in_all, options));
    check_same(by_reducer(parsed, same_in_all, options), by_hand(how, same_in_all, 1));
}

TEST_CASE("momentum: messages in full without a mask are momentum SGD, masked SGD; layers in full are never masked") {
    vec u(d);
    for (int const form : {0, 1, 2}) {
        error_feedback const how{identity{}, 1, gather_all{}, 0.9, form != 0};
        fibers::run(ranks, [&](fibers::member& comm) {
            reducer<decltype(how), fibers::member, double> reduce(how, comm, d,
                                                                  {.seed = 0, .dense_below = form == 2 ? d + 1 : 0});
            vec by_sgd(d);
            for (int s = 0; s < 5; ++s) {
                auto g = gradient_of(comm.rank(), s);
                reduce(g);
                for (std::size_t i = 0; i < d; ++i) {
                    double mean = 0;
                    for (int r = 0; r < ranks; ++r) mean += gradient_at(r, s, i) / ranks;
                    by_sgd[i] = form == 1 ? mean : 0.9 * by_sgd[i] + mean;
                    CHECK(g[i] == doctest::Approx(by_sgd[i]).epsilon(1e-12));
                }
            }
        });
    }
}

TEST_CASE("momentum: saved and restored it goes on bit for bit, and other ranks get the mean") {
    auto const how = with_momentum(1, 0.9, true);
    std::vector<std::vector<std::byte>> saved(ranks);
    vec mean(d), sum(d);
    fibers::run(ranks, [&](fibers::member& comm) {
        reducer<how_type, fibers::member, double> reduce(how, comm, d, {.seed = 0});
        for (int s = 0; s < 4; ++s) {
            auto g = gradient_of(comm.rank(), s);
            reduce(g);
        }
        saved[std::size_t(comm.rank())] = reduce.save();
        auto const u = reduce.layers()[0].feedback().momentum();
        for (std::size_t i = 0; i < d; ++i) sum[i] += u[i];
        CHECK(reduce.statistics().bytes_of_state == 2 * d * sizeof(double));
        reducer<how_type, fibers::member, double> again(how, comm, d, {.seed = 0});
        again.restore(saved[std::size_t(comm.rank())]);
        auto g = gradient_of(comm.rank(), 4), same = g;
        reduce(g), again(same);
        CHECK(g == same);
    });
    fibers::run(2, [&](fibers::member& comm) {
        reducer<how_type, fibers::member, double> fewer(how, comm, d, {.seed = 0});
        fewer.restore(saved);
        auto const u = fewer.layers()[0].feedback().momentum();
        for (std::size_t i = 0; i < d; ++i) CHECK(u[i] == doctest::Approx(sum[i] / ranks).epsilon(1e-12));
    });
}

TEST_CASE("momentum: its text, its range, and that ranks must have the same") {
    CHECK(to_string(with_momentum(1, 0.9, true)) == "error_feedback(top_k(3), momentum=0.9)");
    CHECK(to_string(with_momentum(0.5, 0.9, false)) == "error_feedback(top_k(3), decay=0.5, momentum=0.9, masked=no)");
    for (std::string const text : {"error_feedback(top_k(3), momentum=0.9)",
                                   "error_feedback(identity, momentum=0.9, common=yes, over=two_shot(scaled_sign))",
                                   "error_feedback(top_k(3), momentum=0.9, masked=no, over=gtop_k(3))"})
        CHECK(to_string(parse_reduction(text)) == text);
    CHECK_THROWS_AS(parse_reduction("error_feedback(top_k(3), momentum=1.5)"), parse_error);
    CHECK_THROWS_AS(parse_reduction("error_feedback(top_k(3), momentum=-0.1)"), parse_error);
    fibers::run(2, [&](fibers::member& comm) {
        CHECK_THROWS_WITH_AS((reducer(with_momentum(1, 1, true), comm, d)),
                             doctest::Contains("a momentum is at least 0 and below 1, not 1"), argument_error);
        for (std::size_t const dense_below : {std::size_t(0), d + 1})
            CHECK_THROWS_WITH_AS(
                (reducer(with_momentum(1, 0.5 + 0.1 * comm.rank(), true), comm, d, {.dense_below = dense_below})),
                doctest::Contains("momentum=0.6"), agreement_error);
    });
    // The theorem's compressors are asked for all the same.
    CHECK_THROWS_AS((error_feedback{any_compressor<double>(rand_k{2}), 1, gather_all{}, 0.9}.check_proof(10)),
                    theory_error);
}
