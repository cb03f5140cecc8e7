// SPDX-License-Identifier: Apache-2.0
// Rounds of local steps come to known answers, a round that fails changes nothing, and states go on bit for bit.
#include "laconic/outer_reducer.hpp"

#include "laconic/any/parse_step.hpp"
#include "laconic/comm/fibers.hpp"
#include "laconic/compress/bin_means.hpp"
#include "laconic/transport/robust.hpp"
#include "support/bowls.hpp"
#include "support/error_of.hpp"
#include "support/everything.hpp"

using vec = std::vector<double>;

// H gradient steps of this rank on its own bowl, for the coordinates from `first` on.
void descend_locally(int rank, std::span<double> y, int h, std::size_t first = 0) {
    for (; h > 0; --h)
        for (std::size_t j = 0; j < y.size(); ++j) y[j] -= .1 * bowls::gradient(rank, first + j, y[j]);
}
// After so many rounds of five such steps each, the model is this one on all ranks.
struct known {
    int round;
    bowls::answer model;
};
template <class S, class R = plain<>>
void comes_to(S const& step, std::initializer_list<known> all, bool weighted = false, R const& how = {}) {
    fibers::run(bowls::ranks, [&](fibers::member& comm) {
        vec y(bowls::d, 1);
        outer_reducer outer(how, comm, y, step, {.steps_vary = weighted});
        int round = 0;
        for (auto const& [until, model] : all) {
            for (; round < until; ++round) {
                descend_locally(comm.rank(), y, 5);
                outer(y, step_options{.weight = weighted ? comm.rank() + 1. : 1.});
            }
            CAPTURE(round);
            bowls::check(y, model);
            CHECK(std::ranges::equal(y, outer.agreed()));
        }
    });
}

TEST_CASE("local SGD, FedAvg and SlowMo come to known answers") {
    comes_to(gradient_step{}, {{1, {.727051263809, .466731830139, 4.34428192296}},
                               {10, {.253281004357, -.396053851128, 2.33683175127}},
                               {50, {.244763429472, -.408120572797, 2.34016372202}}});
    comes_to(gradient_step{},
             {{1, {.945415144958, .768430414917, 4.29809218293}},
              {10, {.865931958251, .366669012496, 2.03413725499}},
              {50, {.865180608377, .359457723532, 2.01536810988}}},
             true);
    comes_to(momentum<>(1, .7), {{1, {.727051263809, .466731830139, 4.34428192296}},
                                 {10, {.369044537254, -.189440610547, 2.40390858578}},
                                 {50, {.244832401757, -.408143234795, 2.34007843763}}});
}

// SCAFFOLD's local steps in a loop of one's own: by its option I c is the mean of the ranks' gradients at the model,
// which another reducer sends; by its option II it follows from the models, also if only two of the four ranks, in
// turn, take part in a round.
enum class scaffold_by { gradients, models, models_of_two };
void scaffold_comes_to(scaffold_by by, std::initializer_list<known> all) {
    fibers::run(bowls::ranks, [&](fibers::member& comm) {
        constexpr std::size_t d = bowls::d;
        constexpr double h = 5, step = .1;
        double const share = by == scaffold_by::models_of_two ? .5 : 1;
        vec y(d, 1), own(d), mean(d), sent(d);
        outer_reducer outer(plain{}, comm, y, gradient_step{}, {.steps_vary = share < 1});
        reducer reduce(plain{}, comm, sent);
        int round = 0;
        for (auto const& [until, model] : all) {
            for (; round < until; ++round) {
                vec const x = y;
                bool const sends = share == 1 || (comm.rank() - (round + 1) % 4 + 4) % 4 < 2;
                for (int local = 0; local < h; ++local)
                    for (std::size_t j = 0; j < d; ++j)
                        y[j] -= step * (bowls::gradient(comm.rank(), j, y[j]) - own[j] + mean[j]);
                for (std::size_t j = 0; j < d && sends; ++j)
                    own[j] = by == scaffold_by::gradients ? bowls::gradient(comm.rank(), j, x[j])
                                                          : own[j] - mean[j] + (x[j] - y[j]) / (h * step);
                outer(y, step_options{.weight = sends ? 1. : 0.});
                if (by == scaffold_by::gradients) {
                    reduce(sent = own);
                    mean = sent;
                    continue;
                }
                for (std::size_t j = 0; j < d; ++j)
                    mean[j] = (1 - share) * mean[j] + share * (x[j] - y[j]) / (h * step);
            }
            CAPTURE(round);
            bowls::check(y, model);
        }
    });
}
TEST_CASE("SCAFFOLD comes to known answers by both of its options") {
    scaffold_comes_to(scaffold_by::gradients, {{1, {.727051263809, .466731830139, 4.34428192296}},
                                               {10, {.336393837529, -.399120160364, 2.57499215757}},
                                               {60, {.330357142858, -.408333333333, 2.57869293823}}});
    scaffold_comes_to(scaffold_by::models, {{1, {.727051263809, .466731830139, 4.34428192296}},
                                            {10, {.336309833525, -.39881190751, 2.57435046917}},
                                            {60, {.330357142858, -.408333333333, 2.57869293823}}});
    scaffold_comes_to(scaffold_by::models_of_two, {{1, {.589451422577, .184553601685, 4.03003314057}},
                                                   {10, {.34367467851, -.392132693038, 2.58038155092}},
                                                   {60, {.330357143383, -.408333332872, 2.57869293791}}});
}

TEST_CASE("SparseLoCo, the largest of each chunk in two bits and a residual that decays, comes to known answers") {
    comes_to(gradient_step{},
             {{1, {.809909081249, .509662708092, 4.75271426646}},
              {10, {-.0729693355723, -.385752581674, 3.52377759845}},
              {40, {.0637737917983, -.434436966691, 4.32589124173}}},
             false, unproved{error_feedback{top_k{2, 4} | bin_means{2}, .95}});
}

// Covenant-72B divides by norm + 1e-8 where a message is longer than the median: the same to 9 digits.
TEST_CASE("SparseLoCo with the mean over senders, clipped or not, comes to known answers") {
    auto const over = [](bool clip) { return robust{robust_rules::mean_over_senders{clip}, true}; };
    auto const by = [&](bool clip) { return unproved{error_feedback{top_k{2, 4} | bin_means{2}, .95, over(clip)}}; };
    comes_to(gradient_step{.4},
             {{1, {.847927264999, .792897745462, 5.36853733795}},
              {10, {.268373226412, .000955595925192, 4.47980579662}},
              {40, {-.105783513818, -.305139015223, 2.60302023114}}},
             false, by(true));
    comes_to(gradient_step{.4},
             {{1, {.847927264999, .803865083237, 5.0514013274}},
              {10, {.185878748316, .375238491873, 4.14022500153}},
              {40, {.0779279421141, -.0866852609691, 3.42609492149}}},
             false, by(false));
}

// Streaming DiLoCo: two parts, each every 6 local steps, sent `tau` steps before it is received, of which `keep` stays.
struct known_stream {
    int step;
    bowls::answer agreed;
    std::optional<bowls::answer> of_rank_0{};
};
void streams(int tau, double keep, std::initializer_list<known_stream> all) {
    constexpr int parts = 2, period = 3;
    fibers::run(bowls::ranks, [&](fibers::member& comm) {
        vec y(bowls::d, 1);
        std::span<double> const both[parts] = {std::span(y).first(4), std::span(y).last(4)};
        auto const make = [&](auto part) {
            return outer_reducer(plain{}, comm, part, momentum<>({.rate = .7, .beta = .9, .nesterov = true}));
        };
        auto first = make(both[0]), second = make(both[1]);
        int step = 0;
        for (auto const& k : all) {
            while (step < k.step) {
                int const within = step % period + 1, p = step / period % parts;
                auto& outer = p == 0 ? first : second;
                ++step;
                descend_locally(comm.rank(), y, 1);
                if (within == period - tau) outer.start(0, both[p]);
                if (within == period) outer.finish(keep);
            }
            CAPTURE(step);
            vec x(first.agreed().begin(), first.agreed().end());
            x.insert(x.end(), second.agreed().begin(), second.agreed().end());
            bowls::check(x, k.agreed);
            if (comm.rank() == 0 && k.of_rank_0) bowls::check(y, *k.of_rank_0);
        }
    });
}

TEST_CASE("DiLoCo, FedAdam and Streaming DiLoCo come to known answers") {
    comes_to(momentum<>({.rate = .7, .beta = .9, .nesterov = true}),
             {{1, {.636978180866, .290753334085, 3.54355488173}},
              {10, {.338952998464, -.229567995652, 2.39281375073}},
              {50, {.244764938586, -.408152317491, 2.34018026552}}});
    comes_to(parse_step("momentum(0.7, 0.9, nesterov=yes)"), {{10, {.338952998464, -.229567995652, 2.39281375073}}});
    comes_to(adam<>({.rate = .1, .beta2 = .99, .epsilon = 1e-3, .bias_correction = false}),
             {{1, {.903534209106, .901840711559, 6.88920098668}},
              {10, {-.151008693716, -.563380215606, 2.85764367439}},
              {50, {.274817619805, -.502240633147, 2.44460431657}}});
    streams(1, .5,
            {{12, {.464812474539, -.312868735131, 2.4195453358}, {{-.224537970748, -.602418808491, 6.58653821533}}},
             {60, {.129058075079, -.410523122331, 2.064481212}, {{-.718953055624, -.781013151993, 7.27223024168}}}});
    streams(
        0, 0,
        {{12, {.374946758944, -.50067625302, 2.39551522349}}, {60, {.315860184012, -.253109919558, 2.32005867663}}});
}

TEST_CASE("DiLoCo with AdamW on the ranks comes to known answers, with weights, too") {
    auto const comes = [](bool weighted, std::initializer_list<known> all) {
        fibers::run(bowls::ranks, [&](fibers::member& comm) {
            vec y(bowls::d, 1), g(bowls::d);
            host on;
            adam<> inner({.rate = .05, .beta1 = .9, .beta2 = .95, .weight_decay = .1, .decoupled = true});
            outer_reducer outer(plain{}, comm, y, momentum<>({.rate = .7, .beta = .9, .nesterov = true}),
                                {.steps_vary = weighted});
            int round = 0;
            for (auto const& [until, model] : all) {
                for (; round < until; ++round) {
                    for (int h = 0; h < 5; ++h) {
                        bowls::gradient(comm.rank(), y, g);
                        inner(on, std::span(y), std::span(g));
                    }
                    outer(y, step_options{.weight = weighted ? comm.rank() + 1. : 1.});
                }
                bowls::check(y, model);
            }
        });
    };
    comes(false, {{1, {.803769873703, .802657568805, 5.74760639267}},
                  {10, {-.565467176992, -2.10049512552, 6.12150725624}},
                  {50, {-.060077275896, -1.60288966573, 2.82502633052}}});
    comes(true, {{10, {.672122993045, -.747676808599, 3.17837490506}}});
}

TEST_CASE("DES-LOC, which averages x, m and v after 2, 6 and 12 steps of Adam each, comes to known answers") {
    std::vector<vec> own(bowls::ranks);
    auto const mean = [&] {
        vec sum(bowls::d);
        for (auto const& x : own)
            for (std::size_t j = 0; j < bowls::d; ++j) sum[j] += x[j] / bowls::ranks;
        return sum;
    };
    fibers::run(bowls::ranks, [&](fibers::member& comm) {
        auto const me = static_cast<std::size_t>(comm.rank());
        vec x(bowls::d, 1), g(bowls::d);
        host on;
        adam<> step({.rate = .02, .beta2 = .99, .bias_correction = false});
        outer_reducer models(plain{}, comm, x);
        reducer means(plain{}, comm, x), squares(plain{}, comm, x);
        for (int t = 1; t <= 24; ++t) {
            bowls::gradient(comm.rank(), x, g);
            if (t % 6 == 0) means(step.mean());
            if (t % 12 == 0) squares(step.square());
            if (t % 2 == 0) models(x);
            step(on, std::span(x), std::span(g));
            own[me] = x;
            comm.all_gather({});  // until all have stepped
            if (t == 2) bowls::check(mean(), {.976539533358, .976533256597, 7.72176722352});
            if (t == 24) bowls::check(mean(), {.612378401509, .529435723869, 3.69743488422});
            comm.all_gather({});
        }
    });
}

// The gradient of rank i's bowl of 4 x 4 matrices, A (W - T_i) entry by entry.
void matrix_gradient(int rank, std::span<double const> w, std::span<double> g) {
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 4; ++c) {
            double const a = 1 + (r + c) % 3 / 2., t = ((3 * r + 5 * c) % 7 - 3) / 2. + (r + 1) * (c + 1) / 16.;
            auto const at = std::size_t(4 * r + c);
            g[at] = a * (w[at] - t - (rank - 1.5) * ((r + 2 * c) % 3 - 1) / 4.);
        }
}

TEST_CASE("MuLoCo, with Muon on the ranks, comes to known answers") {
    fibers::run(bowls::ranks, [](fibers::member& comm) {
        vec y(16), g(16);
        host on;
        muon<> inner({.rows = 4,
                      .rate = .02,
                      .beta = .9,
                      .weight_decay = 0,
                      .nesterov = false,
                      .scale = matrix_scale::spectral});
        outer_reducer outer(plain{}, comm, y, momentum<>({.rate = .7, .beta = .9, .nesterov = true}));
        for (int round = 1; round <= 10; ++round) {
            for (int h = 0; h < 5; ++h) {
                matrix_gradient(comm.rank(), y, g);
                inner(on, std::span(y), std::span(g));
            }
            outer(y);
            if (round == 1) bowls::check(y, {-.0398014235105, -.022849681767, .0593249047008});
        }
        bowls::check(y, {-1.27107877844, .791596602749, 22.9485443853});
    });
}

TEST_CASE("all ranks start from rank 0's model, in layers, too, and agree on one after each round") {
    fibers::run(3, [](fibers::member& comm) {
        std::vector<float> a(5, float(comm.rank())), b(7, float(comm.rank() + 10));
        outer_reducer outer(plain{}, comm, layers_of({5, 7}));
        CHECK_THROWS_WITH_AS(outer.start(0, a),
                             "layer 0 of this outer_reducer has no model yet: call begin(0, model) on all ranks",
                             argument_error);
        outer.begin(0, a), outer.begin(1, b);
        CHECK((a == std::vector(5, 0.0f) && b == std::vector(7, 10.0f)));
        for (float& v : a) v += float(comm.rank());
        outer.start(1, b), outer.start(0, a);
        b[0] = 55;  // after start() the model may change
        outer.finish();
        CHECK((a == std::vector(5, 1.0f) && b == std::vector(7, 10.0f)));
        CHECK((std::ranges::equal(outer.agreed(0), a) && std::ranges::equal(outer.agreed(1), b)));
        CHECK(outer.rounds() == 1);
        CHECK_THROWS_WITH_AS(outer(a),
                             "this outer_reducer has 2 layers: call start(layer, model) for each of them, and then "
                             "finish()",
                             argument_error);
        CHECK_THROWS_WITH_AS(outer.start(2, a), "there is no layer 2: this outer_reducer has 2", argument_error);
        CHECK_THROWS_WITH_AS(outer.begin(0, b), "layer 0 of this outer_reducer has 5 numbers, and the model 7",
                             shape_error);
    });
}

TEST_CASE("a round that fails is an error on all ranks and changes nothing, and the next one succeeds") {
    fibers::run(3, [](fibers::member& comm) {
        vec y(6, 1);
        outer_reducer outer(error_feedback{top_k{2}}, comm, y, momentum<>(.5, .9), {.seed = 0});
        auto const local = [&] {
            for (std::size_t j = 0; j < y.size(); ++j) y[j] += .125 * comm.rank() + double(j);
        };
        local(), outer(y);
        auto const before = outer.save();
        local();
        auto const own = y;
        if (comm.rank() == 1) y[3] = NAN;
        auto const at = y;
        auto const error = error_of<non_finite_error>([&] { outer(y); });
        CHECK(error == "rank 1, round 1: the gradient is not finite at coordinate 3");
        CHECK(std::memcmp(y.data(), at.data(), sizeof(double) * y.size()) == 0);
        CHECK(outer.save() == before);
        y = own;
        outer(y);
        CHECK(outer.rounds() == 2);
        CHECK(std::ranges::equal(y, outer.agreed()));
    });
}

TEST_CASE("one rank and seven, and models of one number, of none, and of zeros") {
    for (int const n : {1, 7})
        fibers::run(n, [&](fibers::member& comm) {
            for (std::size_t const d : {0, 1, 5}) {
                vec y(d);
                outer_reducer outer(plain{}, comm, y, momentum<>(.5, .9));
                outer(y);
                CHECK(y == vec(d));
                for (double& v : y) v += comm.rank();
                outer(y);
                for (double const v : y) CHECK(v == doctest::Approx((n - 1) / 4.).epsilon(1e-14));
            }
        });
}

TEST_CASE("ranks with different outer steps are found before the first round") {
    fibers::run(2, [](fibers::member& comm) {
        vec y(6, 1);
        momentum<> const step(comm.rank() == 0 ? .7 : .5, .9);
        CHECK(error_of<agreement_error>([&] { outer_reducer(plain{}, comm, y, step); }).find("the outer step") !=
              std::string::npos);
    });
}

TEST_CASE("a model of another length on one rank is an error on all, and the next round succeeds") {
    fibers::run(3, [](fibers::member& comm) {
        vec y(6, 1), z(5 + (comm.rank() == 1 ? 0 : 1), 2);
        outer_reducer outer(plain{}, comm, y);
        auto const before = outer.save();
        CHECK(error_of<compression_error>([&] { outer(z); }).find("rank 1") != std::string::npos);
        CHECK(z == vec(z.size(), 2));
        CHECK(outer.save() == before);
        CHECK_THROWS_AS(outer.begin(0, z), agreement_error);
        for (double& v : y) v += comm.rank();
        outer(y);
        CHECK(y == vec(6, 2));
    });
}

TEST_CASE("what an outer_reducer cannot do is refused") {
    fibers::run(2, [](fibers::member& comm) {
        vec y(4);
        using outer_type = outer_reducer<plain<>, fibers::member, gradient_step, double>;
        CHECK_THROWS_AS(outer_type(plain{}, comm, y, {}, {.non_finite = on_non_finite::propagate}), argument_error);
        CHECK_THROWS_AS(outer_type(plain{}, comm, y, {}, {.missing_layer = on_missing_layer::zero}), argument_error);
        CHECK_THROWS_AS(outer_type(plain{}, comm, y, {}, {.skip_zero_layers = true}), argument_error);
        muon<> const matrix({.rows = 3});
        CHECK_THROWS_AS((outer_reducer<plain<>, fibers::member, muon<>, double>(plain{}, comm, y, matrix)),
                        argument_error);
        outer_type outer(plain{}, comm, y);
        outer.start(0, y);
        for (double const keep : {-.1, 1., double(NAN)}) CHECK_THROWS_AS(outer.finish(keep), argument_error);
        CHECK_THROWS_AS(outer.save(), argument_error);
        outer.finish();
        CHECK(outer.rounds() == 1);
    });
}

TEST_CASE("a saved state goes on bit for bit, and over other ranks with the mean residual") {
    constexpr std::size_t d = 9;
    using outer_type = outer_reducer<error_feedback<top_k<>>, fibers::member, momentum<>, double>;
    auto const local = [](int rank, int round, std::span<double> y) {
        for (std::size_t j = 0; j < y.size(); ++j)
            y[j] += key{7}.child(std::uint64_t(rank)).child(std::uint64_t(round)).uniform(j) - .3;
    };
    std::vector<std::vector<std::byte>> states(3);
    std::vector<vec> later(3), residuals(3);
    auto const run = [&](outer_type& outer, int rank, vec& y, int from, int to) {
        for (int k = from; k < to; ++k) local(rank, k, y), outer(y);
    };
    fibers::run(3, [&](fibers::member& comm) {
        auto const r = std::size_t(comm.rank());
        vec y(d, 1);
        outer_type outer(error_feedback{top_k{2}}, comm, y, momentum<>(.5, .9), {.seed = 3});
        run(outer, comm.rank(), y, 0, 4);
        states[r] = outer.save();
        auto const e = outer.reduction().residual(0);
        residuals[r].assign(e.begin(), e.end());
        run(outer, comm.rank(), y, 4, 7);
        later[r] = y;
    });
    fibers::run(3, [&](fibers::member& comm) {
        auto const r = std::size_t(comm.rank());
        vec y(d, -5);
        outer_type outer(error_feedback{top_k{2}}, comm, y, momentum<>(.5, .9), {.seed = 3});
        run(outer, comm.rank(), y, 20, 22);
        auto const before = outer.save();
        auto damaged = states[r];
        damaged[damaged.size() / 2] ^= std::byte{1};
        CHECK_THROWS_AS(outer.restore(damaged), wire_error);
        damaged.resize(11);
        CHECK_THROWS_AS(outer.restore(damaged), wire_error);
        CHECK_THROWS_AS(outer.restore(outer.reduction().save()), shape_error);
        outer_type other(error_feedback{top_k{2}}, comm, y, momentum<>(.75, .9), {.seed = 3});
        for (bool const all : {false, true}) {
            auto const why = error_of<shape_error>([&] { all ? other.restore(states) : other.restore(states[r]); });
            CHECK(why.find("saved: the outer step: momentum(0.5") != std::string::npos);
            CHECK(why.find("here: the outer step: momentum(0.75") != std::string::npos);
        }
        CHECK(outer.save() == before);
        outer.restore(states[r]);
        y.assign(outer.agreed().begin(), outer.agreed().end());
        run(outer, comm.rank(), y, 4, 7);
        CHECK(y == later[r]);
        outer.restore(states);
        y.assign(outer.agreed().begin(), outer.agreed().end());
        run(outer, comm.rank(), y, 4, 7);
        CHECK(y == later[r]);
    });
    fibers::run(2, [&](fibers::member& comm) {
        vec y(d);
        outer_type outer(error_feedback{top_k{2}}, comm, y, momentum<>(.5, .9), {.seed = 3});
        outer.restore(states);
        for (std::size_t j = 0; j < d; ++j)
            CHECK(outer.reduction().residual(0)[j] ==
                  doctest::Approx((residuals[0][j] + residuals[1][j] + residuals[2][j]) / 3));
        y.assign(outer.agreed().begin(), outer.agreed().end());
        run(outer, comm.rank(), y, 4, 5);
        CHECK(std::ranges::equal(y, outer.agreed()));
    });
}

TEST_CASE("where one rank cannot restore its state and the others do, the next round is an error on all") {
    using outer_type = outer_reducer<plain<>, fibers::member, gradient_step, double>;
    fibers::run(3, [](fibers::member& comm) {
        vec y(4, 1), z(5, 1);
        outer_type outer(plain{}, comm, y), of_another_shape(plain{}, comm, z);
        outer(y), of_another_shape(z);
        auto const before = outer.save();
        outer(y);
        if (comm.rank() == 1)
            CHECK_THROWS_AS(outer.restore(of_another_shape.save()), shape_error);
        else
            outer.restore(before);
        CHECK(error_of<agreement_error>([&] { outer(y); }).find("rank 1") != std::string::npos);
        outer.restore(before);
        outer(y);
        CHECK(outer.rounds() == 2);
    });
}

TEST_CASE("a model of 16 bits is rounded from the agreed model, which is of float") {
    using number = Eigen::half;
    fibers::run(2, [](fibers::member& comm) {
        std::vector<number> y{number(1), number(2), number(1)};
        auto const given = y;
        outer_reducer outer(plain{}, comm, y);
        static_assert(std::same_as<decltype(outer.agreed()), std::span<float const>>);
        auto const is_rounded = [&] {
            for (std::size_t j = 0; j < y.size(); ++j) CHECK(y[j] == number(outer.agreed()[j]));
        };
        outer(y);
        CHECK(y == given);
        y[0] += number(comm.rank() == 0 ? .5f : .25f);
        y[2] += number(0x1p-10f * float(comm.rank()));
        outer(y), is_rounded();
        CHECK(y[0] == number(1.375f));
        CHECK(outer.agreed()[2] == 1 + 0x1p-11f);
        outer.start(0, y);
        y[1] += number(1);
        outer.finish(.5);
        CHECK(y[1] == number(2.5f));
        y[1] = number(std::numeric_limits<float>::infinity());
        CHECK_THROWS_AS(outer(y), non_finite_error);
        y.resize(2);
        CHECK_THROWS_AS(outer(y), compression_error);
        CHECK(outer.rounds() == 3);
    });
}

TEST_CASE("it reduces on another backend, such as one of several threads") {
    fibers::run(2, [](fibers::member& comm) {
        vec y(6, comm.rank());
        outer_reducer outer(plain{}, comm, y, gradient_step{}, {}, threaded(2));
        for (double& v : y) v += comm.rank();
        outer(y);
        CHECK(y == vec(6, .5));
    });
}

TEST_CASE("ranks of which one has missed the first round go on with rebind") {
    using outer_type = outer_reducer<plain<>, threads::member, momentum<>, double>;
    std::vector<std::unique_ptr<outer_type>> kept(2);
    std::vector<vec> y(2, vec(5, 1));
    for (int lost : {0, 1}) {  // both make one, and then rank 0 alone takes a step
        threads::run(lost == 0 ? 2 : 1, [&](threads::member& comm) {
            auto const r = std::size_t(comm.rank());
            if (lost == 0)
                kept[r] = std::make_unique<outer_type>(plain{}, comm, y[r], momentum<>(.5, .9));
            else
                kept[0]->rebind(comm), y[0][2] = 3, (*kept[0])(y[0]);
        });
    }
    threads::run(2, [&](threads::member& comm) {
        auto const r = std::size_t(comm.rank());
        kept[r]->rebind(comm);
        CHECK(std::ranges::equal(kept[r]->agreed(), kept[0]->agreed()));
        CHECK(kept[r]->step().velocity().size() == 5);
    });
}

TEST_CASE("after a lost rank the others go on with rebind, from one model and one momentum") {
    using outer_type = outer_reducer<plain<>, threads::member, momentum<>, double>;
    std::vector<std::unique_ptr<outer_type>> kept(3);
    std::vector<vec> y(3, vec(5, 1));
    auto const local = [&](std::size_t r) {
        for (double& v : y[r]) v -= .25 * double(r + 1);
    };
    CHECK_THROWS_AS(threads::run(3,
                                 [&](threads::member& comm) {
                                     auto const r = std::size_t(comm.rank());
                                     kept[r] = std::make_unique<outer_type>(plain{}, comm, y[r], momentum<>(.5, .9));
                                     for (int k = 0; k < 3; ++k) {
                                         local(r);
                                         if (k == 2 && r == 1) throw std::runtime_error("lost");
                                         (*kept[r])(y[r]);
                                     }
                                 }),
                    std::runtime_error);
    threads::run(2, [&](threads::member& comm) {
        auto const r = std::size_t(2 * comm.rank());
        auto& outer = *kept[r];
        outer.rebind(comm);
        y[r].assign(outer.agreed().begin(), outer.agreed().end());
        for (int k = 0; k < 2; ++k) local(r), outer(y[r]);
        CHECK(outer.rounds() == 4);
    });
    CHECK(y[0] == y[2]);
    CHECK(std::ranges::equal(kept[0]->step().velocity(), kept[2]->step().velocity()));
}
