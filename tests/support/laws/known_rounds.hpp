// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <vector>

#include "laconic/comm/fibers.hpp"
#include "laconic/compress/bin_means.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/optim/adam.hpp"
#include "laconic/optim/muon.hpp"
#include "laconic/outer_reducer.hpp"
#include "laconic/transport/robust.hpp"
#include "support/bowls.hpp"
#include "support/steps.hpp"

/// Known answers of rounds of local steps in a loop of one's own, whose model lives on a backend.
namespace laws {

using vec = std::vector<double>;

/// A model on B that the host looks at, and moves.
template <class B>
struct model_on {
    typename B::template array<double> y;
    B on{};

    explicit model_on(std::size_t size, double value = 0) : y(size) { fill(on, std::span<double>(y), value); }
    static vec brought(B& on, std::span<double const> x) {
        vec here(x.size());
        copy_to_host(on, x, std::span<double>(here));
        return here;
    }
    vec here() { return brought(on, std::span<double const>(y)); }
    void move(auto how) {
        auto x = here();
        how(std::span<double>(x));
        copy_from_host(on, std::span<double const>(x), std::span<double>(y));
    }
    // H gradient steps of this rank on its own bowl.
    void descend(int rank, int h) {
        move([&](std::span<double> x) {
            for (; h > 0; --h)
                for (std::size_t j = 0; j < x.size(); ++j) x[j] -= .1 * bowls::gradient(rank, j, x[j]);
        });
    }
};

/// After so many rounds, the model is this one on all ranks.
struct known_round {
    int round;
    bowls::answer model;
};
/// Rounds of five steps local(model, rank), of models of so many numbers.
template <class B, class S, class R = laconic::plain<>>
void rounds_come_to(std::initializer_list<known_round> all, S const& step, R const& how, bool weighted, auto local,
                    model_on<B> const& start = model_on<B>(bowls::d, 1)) {
    using namespace laconic;
    fibers::run(bowls::ranks, [&](fibers::member& comm) {
        auto m = start;
        auto steps = local(comm.rank());
        outer_reducer outer(how, comm, m.y, step, {.steps_vary = weighted}, B{});
        int round = 0;
        for (auto const& [until, model] : all) {
            for (; round < until; ++round) {
                steps(m);
                outer(m.y, step_options{.weight = weighted ? comm.rank() + 1. : 1.});
            }
            CAPTURE(round);
            bowls::check(m.here(), model);
            CHECK(m.here() == model_on<B>::brought(m.on, outer.agreed()));
        }
    });
}
template <class B, class S, class R = laconic::plain<>>
void rounds_come_to(std::initializer_list<known_round> all, S const& step = {}, R const& how = {},
                    bool weighted = false) {
    rounds_come_to<B>(all, step, how, weighted,
                      [](int rank) { return [rank](model_on<B>& m) { m.descend(rank, 5); }; });
}

// SCAFFOLD's local steps in a loop of one's own: by its option I c is the mean of the ranks' gradients at the model,
// which another reducer sends; by its option II it follows from the models, also if only two of the four ranks, in
// turn, take part in a round.
enum class scaffold_by { gradients, models, models_of_two };
template <class B>
void scaffold_comes_to(scaffold_by by, std::initializer_list<known_round> all) {
    using namespace laconic;
    fibers::run(bowls::ranks, [&](fibers::member& comm) {
        constexpr std::size_t d = bowls::d;
        constexpr double h = 5, step = .1;
        double const share = by == scaffold_by::models_of_two ? .5 : 1;
        model_on<B> m(d, 1), sent(d);
        vec own(d), mean(d);
        outer_reducer outer(plain{}, comm, m.y, gradient_step{}, {.steps_vary = share < 1}, B{});
        reducer reduce(plain{}, comm, sent.y, {}, B{});
        int round = 0;
        for (auto const& [until, model] : all) {
            for (; round < until; ++round) {
                vec const x = m.here();
                bool const sends = share == 1 || (comm.rank() - (round + 1) % 4 + 4) % 4 < 2;
                m.move([&](std::span<double> y) {
                    for (int local = 0; local < h; ++local)
                        for (std::size_t j = 0; j < d; ++j)
                            y[j] -= step * (bowls::gradient(comm.rank(), j, y[j]) - own[j] + mean[j]);
                    for (std::size_t j = 0; j < d && sends; ++j)
                        own[j] = by == scaffold_by::gradients ? bowls::gradient(comm.rank(), j, x[j])
                                                              : own[j] - mean[j] + (x[j] - y[j]) / (h * step);
                });
                outer(m.y, step_options{.weight = sends ? 1. : 0.});
                if (by == scaffold_by::gradients) {
                    sent.move([&](std::span<double> g) { std::copy(own.begin(), own.end(), g.begin()); });
                    reduce(sent.y);
                    mean = sent.here();
                    continue;
                }
                vec const y = m.here();
                for (std::size_t j = 0; j < d; ++j)
                    mean[j] = (1 - share) * mean[j] + share * (x[j] - y[j]) / (h * step);
            }
            CAPTURE(round);
            bowls::check(m.here(), model);
        }
    });
}

// Streaming DiLoCo: two parts, each every 6 local steps, sent `tau` steps before it is received, of which `keep` stays.
// The agreed model and rank 0's own after so many local steps.
struct streamed_models {
    vec agreed, of_rank_0;
};
template <class B>
streamed_models streamed(int tau, double keep, int steps) {
    using namespace laconic;
    constexpr int parts = 2, period = 3;
    streamed_models models;
    fibers::run(bowls::ranks, [&](fibers::member& comm) {
        model_on<B> m(bowls::d, 1);
        std::span<double> const both[parts] = {std::span(m.y).first(4), std::span(m.y).last(4)};
        auto const make = [&](auto part) {
            return outer_reducer(plain{}, comm, part, momentum<double, B>({.rate = .7, .beta = .9, .nesterov = true}),
                                 {}, B{});
        };
        auto first = make(both[0]), second = make(both[1]);
        for (int step = 0; step < steps; ++step) {
            int const within = step % period + 1, p = step / period % parts;
            auto& outer = p == 0 ? first : second;
            m.descend(comm.rank(), 1);
            if (within == period - tau) outer.start(0, both[p]);
            if (within == period) outer.finish(keep);
        }
        if (comm.rank() > 0) return;
        models = {m.brought(m.on, first.agreed()), m.here()};
        auto const rest = m.brought(m.on, second.agreed());
        models.agreed.insert(models.agreed.end(), rest.begin(), rest.end());
    });
    return models;
}

template <class B>
void known_rounds() {
    using namespace laconic;
    rounds_come_to<B>({{1, {.727051263809, .466731830139, 4.34428192296}},
                       {10, {.253281004357, -.396053851128, 2.33683175127}},
                       {50, {.244763429472, -.408120572797, 2.34016372202}}},
                      gradient_step{});
    rounds_come_to<B>({{1, {.945415144958, .768430414917, 4.29809218293}},
                       {10, {.865931958251, .366669012496, 2.03413725499}},
                       {50, {.865180608377, .359457723532, 2.01536810988}}},
                      gradient_step{}, plain{}, true);
    // SlowMo, DiLoCo
    using outer = momentum<double, B>;
    rounds_come_to<B>({{1, {.727051263809, .466731830139, 4.34428192296}},
                       {10, {.369044537254, -.189440610547, 2.40390858578}},
                       {50, {.244832401757, -.408143234795, 2.34007843763}}},
                      outer(1, .7));
    rounds_come_to<B>({{1, {.636978180866, .290753334085, 3.54355488173}},
                       {10, {.338952998464, -.229567995652, 2.39281375073}},
                       {50, {.244764938586, -.408152317491, 2.34018026552}}},
                      outer({.rate = .7, .beta = .9, .nesterov = true}));
    scaffold_comes_to<B>(scaffold_by::gradients, {{1, {.727051263809, .466731830139, 4.34428192296}},
                                                  {10, {.336393837529, -.399120160364, 2.57499215757}},
                                                  {60, {.330357142858, -.408333333333, 2.57869293823}}});
    scaffold_comes_to<B>(scaffold_by::models, {{1, {.727051263809, .466731830139, 4.34428192296}},
                                               {10, {.336309833525, -.39881190751, 2.57435046917}},
                                               {60, {.330357142858, -.408333333333, 2.57869293823}}});
    scaffold_comes_to<B>(scaffold_by::models_of_two, {{1, {.589451422577, .184553601685, 4.03003314057}},
                                                      {10, {.34367467851, -.392132693038, 2.58038155092}},
                                                      {60, {.330357143383, -.408333332872, 2.57869293791}}});
    // SparseLoCo: the largest of each chunk in two bits, and a residual that decays.
    rounds_come_to<B>({{1, {.809909081249, .509662708092, 4.75271426646}},
                       {10, {-.0729693355723, -.385752581674, 3.52377759845}},
                       {40, {.0637737917983, -.434436966691, 4.32589124173}}},
                      gradient_step{}, unproved{error_feedback{top_k{2, 4} | bin_means{2}, .95}});
    bowls::check(streamed<B>(1, .5, 12).agreed, {.464812474539, -.312868735131, 2.4195453358});
    bowls::check(streamed<B>(1, .5, 60).agreed, {.129058075079, -.410523122331, 2.064481212});
    bowls::check(streamed<B>(1, .5, 12).of_rank_0, {-.224537970748, -.602418808491, 6.58653821533});
    bowls::check(streamed<B>(1, .5, 60).of_rank_0, {-.718953055624, -.781013151993, 7.27223024168});
    bowls::check(streamed<B>(0, 0, 12).agreed, {.374946758944, -.50067625302, 2.39551522349});
    bowls::check(streamed<B>(0, 0, 60).agreed, {.315860184012, -.253109919558, 2.32005867663});
}

/// With rules for what the ranks send, which are for the host's memory.
template <laconic::OnHost B>
void known_rounds_of_rules() {
    using namespace laconic;
    // Covenant-72B divides by norm + 1e-8 where a message is longer than the median: the same to 9 digits.
    auto const by = [](bool clip) {
        return unproved{
            error_feedback{top_k{2, 4} | bin_means{2}, .95, robust{robust_rules::mean_over_senders{clip}, true}}};
    };
    rounds_come_to<B>({{1, {.847927264999, .792897745462, 5.36853733795}},
                       {10, {.268373226412, .000955595925192, 4.47980579662}},
                       {40, {-.105783513818, -.305139015223, 2.60302023114}}},
                      gradient_step{.4}, by(true));
    rounds_come_to<B>({{1, {.847927264999, .803865083237, 5.0514013274}},
                       {10, {.185878748316, .375238491873, 4.14022500153}},
                       {40, {.0779279421141, -.0866852609691, 3.42609492149}}},
                      gradient_step{.4}, by(false));
}

/// With steps that keep means of what they are given.
template <class B>
void known_rounds_of_optimizers() {
    using namespace laconic;
    // FedAdam
    using adam = laconic::adam<double, B>;
    rounds_come_to<B>({{1, {.903534209106, .901840711559, 6.88920098668}},
                       {10, {-.151008693716, -.563380215606, 2.85764367439}},
                       {50, {.274817619805, -.502240633147, 2.44460431657}}},
                      adam({.rate = .1, .beta2 = .99, .epsilon = 1e-3, .bias_correction = false}));
    // DiLoCo with AdamW on the ranks
    momentum<double, B> const outer({.rate = .7, .beta = .9, .nesterov = true});
    auto const steps_of = [](auto inner, auto gradient) {
        return [=](int rank) {
            return [=](model_on<B>& m) mutable {
                model_on<B> g(m.y.size());
                for (int h = 0; h < 5; ++h) {
                    g.move([&, x = m.here()](std::span<double> d) { gradient(rank, x, d); });
                    inner(m.on, std::span<double>(m.y), std::span<double>(g.y));
                }
            };
        };
    };
    auto const on_bowls = [](int rank, std::span<double const> x, std::span<double> g) { bowls::gradient(rank, x, g); };
    auto const adamw =
        steps_of(adam({.rate = .05, .beta1 = .9, .beta2 = .95, .weight_decay = .1, .decoupled = true}), on_bowls);
    rounds_come_to<B>({{1, {.803769873703, .802657568805, 5.74760639267}},
                       {10, {-.565467176992, -2.10049512552, 6.12150725624}},
                       {50, {-.060077275896, -1.60288966573, 2.82502633052}}},
                      outer, plain{}, false, adamw);
    rounds_come_to<B>({{10, {.672122993045, -.747676808599, 3.17837490506}}}, outer, plain{}, true, adamw);
    // MuLoCo, with Muon on the ranks
    muon<double, B> const inner(
        {.rows = 4, .rate = .02, .beta = .9, .weight_decay = 0, .nesterov = false, .scale = matrix_scale::spectral});
    rounds_come_to<B>(
        {{1, {-.0398014235105, -.022849681767, .0593249047008}}, {10, {-1.27107877844, .791596602749, 22.9485443853}}},
        outer, plain{}, false, steps_of(inner, bowls::matrix_gradient), model_on<B>(16));
    // DES-LOC averages x, m and v after 2, 6 and 12 steps of Adam each.
    std::vector<vec> own(bowls::ranks);
    auto const mean = [&] {
        vec sum(bowls::d);
        for (auto const& x : own)
            for (std::size_t j = 0; j < bowls::d; ++j) sum[j] += x[j] / bowls::ranks;
        return sum;
    };
    fibers::run(bowls::ranks, [&](fibers::member& comm) {
        model_on<B> x(bowls::d, 1), g(bowls::d);
        adam step({.rate = .02, .beta2 = .99, .bias_correction = false});
        outer_reducer models(plain{}, comm, x.y, gradient_step{}, {}, B{});
        reducer means(plain{}, comm, x.y, {}, B{}), squares(plain{}, comm, x.y, {}, B{});
        for (int t = 1; t <= 24; ++t) {
            g.move([&, at = x.here()](std::span<double> d) { bowls::gradient(comm.rank(), at, d); });
            if (t % 6 == 0) means(step.mean());
            if (t % 12 == 0) squares(step.square());
            if (t % 2 == 0) models(x.y);
            step(x.on, std::span<double>(x.y), std::span<double>(g.y));
            own[static_cast<std::size_t>(comm.rank())] = x.here();
            comm.all_gather({});  // until all have stepped
            if (t == 2) bowls::check(mean(), {.976539533358, .976533256597, 7.72176722352});
            if (t == 24) bowls::check(mean(), {.612378401509, .529435723869, 3.69743488422});
            comm.all_gather({});
        }
    });
}

}  // namespace laws
