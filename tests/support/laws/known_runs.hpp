// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "laconic/compress/signs.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/method/adiana.hpp"
#include "laconic/method/bidirectional.hpp"
#include "laconic/method/dcgd.hpp"
#include "laconic/method/diana.hpp"
#include "laconic/method/ef21.hpp"
#include "laconic/method/ef21_muon.hpp"
#include "laconic/method/ef_sgd.hpp"
#include "laconic/method/local_sgd.hpp"
#include "laconic/method/locodl.hpp"
#include "laconic/method/marina.hpp"
#include "laconic/method/one_bit_adam.hpp"
#include "laconic/method/some_of.hpp"
#include "laconic/method/with_step.hpp"
#include "support/bowl_runs.hpp"

/// Known answers, of 12 digits, of methods whose iterate and memories live on a backend.
namespace laws {

/// How a run differs from four ranks on bowls of their own.
struct setting {
    bool together = false;  ///< all ranks' bowls have one optimum
    int ranks = bowls::ranks;
    double answers = 0;   ///< the answer is the iterate less so many of the server's residual
    bool matrix = false;  ///< bowls of 4 x 4 matrices, from 0 on
};

/// A bowl of one rank, worked out on the host.
template <class B>
struct bowl_on {
    int rank;
    setting how{};
    mutable B on{};

    std::size_t dimension() const { return how.matrix ? 16 : bowls::d; }
    double value(std::span<double const>) const { return 0; }
    void gradient(std::span<double const> x, std::span<double> g) const {
        bowls::vec at(x.size()), slope(x.size());
        copy_to_host(on, x, std::span<double>(at));
        if (how.matrix)
            bowls::matrix_gradient(rank, at, slope);
        else
            for (std::size_t j = 0; j < slope.size(); ++j)
                slope[j] = bowls::a(rank, j) * (at[j] - (how.together ? bowls::common_b(j) : bowls::b(rank, j)));
        copy_from_host(on, std::span<double const>(slope), g);
    }
};

template <class B>
bowls::vec here(B& on, std::span<double const> x) {
    bowls::vec copy(x.size());
    copy_to_host(on, x, std::span<double>(copy));
    return copy;
}

/// The recursion r or, of each rank, r(rank).
template <class B, class R>
void comes_to(std::string const& name, R const& r, std::initializer_list<bowls::known> answers,
              setting const& how = {}) {
    using namespace laconic;
    CAPTURE(name);
    auto const own = [&](int rank) {
        if constexpr (requires { r(0); })
            return r(rank);
        else
            return r;
    };
    std::vector<bowls::vec> seen;
    fibers::run(how.ranks, [&](fibers::member& comm) {
        B on;
        bowl_on<B> const f{comm.rank(), how};
        typename B::template array<double> x(f.dimension());
        fill(on, std::span<double>(x), how.matrix ? 0.0 : 1.0);
        descent<decltype(own(0)), bowl_on<B>, fibers::member, double, B> run(own(comm.rank()), f, comm,
                                                                             std::span<double>(x), 1, on);
        std::size_t round = 0;
        for (auto const& k : answers) {
            for (; round < k.round; ++round) run.round();
            if (comm.rank() > 0) continue;
            seen.push_back(here(on, std::span<double const>(x)));
            if constexpr (requires { run.transport().feedback(); })
                if (how.answers != 0) {
                    auto const e = here(on, run.transport().feedback().residual());
                    for (std::size_t j = 0; j < e.size(); ++j) seen.back()[j] -= how.answers * e[j];
                }
        }
    });
    std::size_t i = 0;
    for (auto const& k : answers) {
        CAPTURE(k.round);
        bowls::check(seen.at(i++), k.x);
    }
}

// The sign of each number times the root mean square of its bucket, as DeepSpeed sends them.
struct rms_sign {
    std::size_t bucket = 0;

    template <laconic::Scalar T, class B>
    using message = laconic::messages::full_vector<T, B>;
    void check(std::size_t) const {}
    void blank(auto&, std::size_t n, laconic::key, auto& m) const { laconic::messages::begin_message(m, n); }
    void operator()(auto& on, auto x, laconic::key from, auto& m) const {
        blank(on, x.size(), from, m);
        std::size_t const most = bucket > 0 ? bucket : x.size();
        bowls::vec values(x.size());
        copy_to_host(on, x, std::span<double>(values));
        for (std::size_t first = 0; first < values.size(); first += most) {
            auto const part = std::span(values).subspan(first, most);
            double squares = 0;
            for (double const v : part) squares += v * v;
            double const size = std::sqrt(squares / double(most));
            for (double& v : part) v = v >= 0 ? size : -size;
        }
        copy_from_host(on, std::span<double const>(values), std::span(m.values));
    }
    bool operator==(rms_sign const&) const = default;
    friend std::string to_string(rms_sign const& s) { return "rms_sign(" + std::to_string(s.bucket) + ")"; }
};

// PAGE in full in every third round; in the others of one of two functions in turn, whose curvatures are 5/4 and 3/4 of
// the bowl's.
template <class B>
struct page_in_turn {
    int rank = 0;
    typename B::template array<double> mean{}, last{};

    std::optional<double> operator()(B& on, auto const& f, laconic::round_context const& now, std::span<double const> x,
                                     std::span<double> g) {
        bool const in_full = now.round % 3 == 0;
        double const share = in_full ? 1 : (now.round + std::size_t(rank)) % 2 == 0 ? 1.25 : .75;
        if (in_full) mean.assign(x.size(), 0);
        auto const add = [&](double factor, std::span<double const> at) {
            f.gradient(at, g);
            add_scaled(on, factor, std::span<double const>(g), std::span<double>(mean));
        };
        add(share, x);
        if (!in_full) add(-share, std::span<double const>(last));
        last.resize(x.size());
        copy(on, x, std::span<double>(last)), copy(on, std::span<double const>(mean), g);
        return std::nullopt;
    }
    void update(B&, auto) {}
    friend std::string to_string(page_in_turn const&) { return "page_in_turn"; }
};

// The draws of a round of ADIANA, even or odd, in which w moves, or not, to y.
inline auto of_round(bool odd, bool w_moves, double p) {
    using laconic::round_context, laconic::key;
    std::uint64_t round = odd;
    auto const drawn = [&] { return round_context::of(key{1}, round, 0, bowls::ranks).shared.child(2).uniform(0) < p; };
    while (drawn() != w_moves) round += 2;
    return [=](int rank) { return round_context::of(key{1}, round, rank, bowls::ranks); };
}

/// Rounds by hand of the recursion of(rank); play(r, f, x, step) makes one step.
template <class B>
void come_by_hand_to(std::string const& name, auto of, auto play, std::initializer_list<bowls::known> answers) {
    CAPTURE(name);
    using array = typename B::template array<double>;
    std::vector<decltype(of(0))> r;
    std::vector<bowl_on<B>> f;
    B on;
    array start(bowls::d);
    fill(on, std::span<double>(start), 1.0);
    for (int i = 0; i < bowls::ranks; ++i) {
        r.push_back(of(i));
        r.back().feedback.start(bowls::d);
        f.push_back({i});
    }
    std::vector<array> x(bowls::ranks, start);
    std::size_t step = 0;
    for (auto const& k : answers) {
        for (; step < k.round; ++step) play(r, f, x, step);
        CAPTURE(step);
        bowls::check(here(on, std::span<double const>(x[0])), k.x);
        CHECK(x[3] == x[0]);
    }
}

/// Methods as `descent` runs them.
template <class B>
void known_descents() {
    using namespace laconic;
    using bowls::cyclic;
    auto const is = [](auto const& method, std::initializer_list<bowls::known> answers, setting const& how = {}) {
        comes_to<B>(to_string(method), method.template compose<double, B>(bowls::constants), answers, how);
    };
    for (double const decay : {1., .95}) {
        auto r = ef_sgd{top_k{2}, {.step = .05}}.template compose<double, B>(bowls::constants);
        r.feedback = memory<double, B>(0, decay);
        comes_to<B>("error feedback, decay " + std::to_string(decay), r,
                    {{1, {1, .951171875, 7.73463356972}},
                     {10, decay == 1 ? bowls::answer{.745877215322, .470006396051, 4.45634536416}
                                     : bowls::answer{.781189672539, .519080292722, 4.90696393039}},
                     {200, decay == 1 ? bowls::answer{.324686052287, -.42488071603, 2.43638882023}
                                      : bowls::answer{.309789313428, -.43822262892, 2.7632136748}}});
    }
    is(ef21{top_k{2}, {.step = .2}}, {{1, {1, .8046875, 7.03304336548}},
                                      {10, {.416091638947, -.279521022224, 2.62508483245}},
                                      {100, {.330357142866, -.408333333327, 2.57869293822}}});
    is(ef21_sgdm{top_k{2}, .5, {.step = .2}}, {{1, {1, .8046875, 7.03304336548}},
                                               {10, {.348911760449, -.422033785978, 2.70565362938}},
                                               {100, {.330357143797, -.4083333333, 2.57869293931}}});
    // EControl
    is(ef21{top_k{2}, {.step = .1}, false, .1}, {{1, {1, .90234375, 7.48501865387}},
                                                 {10, {.574989908583, .0913876762078, 3.0050359129}},
                                                 {200, {.330357243787, -.408333262338, 2.57869290972}}});
    is(bidirectional{ef21{top_k{2}, {.step = .1}}, top_k{3}, 1},
       {{1, {1, .90234375, 7.4859992981}},
        {10, {.603354492188, .107156039029, 3.22463977909}},
        {200, {.330357142946, -.408333331822, 2.57869293731}}});
    // EF21-P with EF21 (Gruntkowska, Tyurin, Richtarik, ICML 2023): the server has x, all have w, where gradients are
    // taken:
    //     h_i <- h_i + C(g_i(w) - h_i),    x <- x - step mean h_i,    w <- w + C_P(x - w).
    // With e = (w - x) / step that is an answer of C_P with error feedback, if C_P commutes with factors.
    is(bidirectional{ef21{top_k{2}, {.step = .1}}, top_k{3}, 0, true},
       {{1, {1, .90234375, 7.48501865387}},
        {10, {.584716796875, .0927412220836, 3.20771298642}},
        {200, {.330357142791, -.408333331706, 2.578692937}}},
       {.answers = .1});
    // Clip21-SGD2M: those of x before each round.
    is(clip21{1, .5, {.step = .2, .memory = .5}}, {{1, {.985923629357, .971261320863, 7.77817369437}},
                                                   {9, {.466383688792, -.0997205037847, 2.8964492761}},
                                                   {199, {.330357142857, -.408333333333, 2.57869293823}}});
    // The tight steps, and those that are proved elsewhere.
    double const s = std::sqrt(.75), tight = (1 - s) / (1 + s), other = 1 / (1.5 + 1.5 * s * std::sqrt(2.) / (1 - s)),
                 slow = .25 / 21 / s;
    is(ef21{top_k{2}, {.step = tight}}, {{1, {1, .929885967066, 7.62388097787}},
                                         {10, {.68844996155, .287991815332, 3.76603996959}},
                                         {100, {.330967744196, -.407320184536, 2.57840524555}}});
    is(ef21{top_k{2}, {.step = other}}, {{1, {1, .935804964534, 7.65437762122}},
                                         {10, {.711000859115, .335043861686, 3.95075657295}},
                                         {100, {.331520360685, -.40641121373, 2.57795459025}}});
    is(ef_sgd{top_k{2}, {.step = tight}}, {{1, {1, .929885967066, 7.62388097787}},
                                           {10, {.681177316528, .351437139157, 3.91923965309}},
                                           {100, {.310062632883, -.423791601312, 2.67123948892}}});
    is(ef_sgd{top_k{2}, {.step = slow}}, {{1, {1, .986575747089, 7.92547317604}},
                                          {10, {.944395388889, .824698937082, 6.77758751439}},
                                          {100, {.529552118078, -.00545745185725, 2.78832379306}}});
    is(ef_sgd{top_k{2}, {.step = tight}},
       {{1, {.867063793557, .939421475545, 7.35435569369}},
        {10, {-.0924824446092, -.132821545057, 4.04791156519}},
        {100, {-1.46556248881, -1.24838703753, 8.90421164596}}},
       {.together = true});
    is(ef_sgd{top_k{2}, {.step = slow}},
       {{1, {.974547616481, .988401445485, 7.86952849207}},
        {10, {.751562688837, .72952549859, 6.29971864417}},
        {100, {-.737921550652, -.637728327868, 5.25699310503}}},
       {.together = true});
    is(dcgd{top_k{2}, {.step = 1 / (1 + s)}},
       {{1, {1, -.80865704891, 6.71463568209}},
        {10, {-1.08880174228, -1.1634295109, 7.62555423621}},
        {100, {-1.46874969515, -1.24999996279, 8.91796697217}}},
       {.together = true, .ranks = 1});
    is(local_sgd{5, 0, {.step = .1}}, {{1, {.727051263809, .466731830139, 4.34428192296}},
                                       {10, {.253281004357, -.396053851128, 2.33683175127}},
                                       {50, {.244763429472, -.408120572797, 2.34016372202}}});
    is(local_sgd{5, .5, {.step = .1}}, {{1, {.753003295059, .516946063538, 4.61019380131}},
                                        {10, {.259656746999, -.387112027603, 2.33677143242}},
                                        {50, {.245334388042, -.40820477409, 2.34179959845}}});
    is(heavy_ball{local_sgd{5, 0, {.step = .1}}, .7}, {{1, {.727051263809, .466731830139, 4.34428192296}},
                                                       {10, {.369044537254, -.189440610547, 2.40390858578}},
                                                       {50, {.244832401757, -.408143234795, 2.34007843763}}});
    is(scaffold{5, {.step = .1}}, {{1, {.727051263809, .466731830139, 4.34428192296}},
                                   {10, {.336309833525, -.39881190751, 2.57435046917}},
                                   {60, {.330357142858, -.408333333333, 2.57869293823}}});
    auto const diloco_by = [](auto const& inner, std::initializer_list<bowls::known> answers) {
        using rounds = local_rounds<std::remove_cvref_t<decltype(inner)>, double, B>;
        recursion<identity, memory<double, B>, momentum<double, B>, fixed_level, rounds> const r{
            {}, {}, momentum<double, B>({.rate = .7, .beta = .9, .nesterov = true}), {}, rounds({.steps = 5}, inner)};
        comes_to<B>("DiLoCo with " + to_string(inner), r, answers);
    };
    diloco_by(gradient_step{.1}, {{1, {.636978180866, .290753334085, 3.54355488173}},
                                  {10, {.338952998464, -.229567995652, 2.39281375073}},
                                  {50, {.244764938586, -.408152317491, 2.34018026552}}});
    // The first round, in full, calls the compressor once, to make room.
    auto const dasha_of = [](int rank) {
        dasha const by{cyclic{2, rank, std::size_t(-1)}, {.step = .1}};
        return by.template compose<double, B>(bowls::constants);
    };
    comes_to<B>("DASHA", dasha_of,
                {{1, {.94140625, .86796875, 6.93774644852}},
                 {10, {.610521312366, .140324793925, 3.32885570544}},
                 {200, {.330357412359, -.408333017198, 2.57869285895}}});
    comes_to<B>("DASHA-PAGE",
                [&](int rank) {
                    auto const r = dasha_of(rank);
                    return recursion<decltype(r.compressor), decltype(r.feedback), gradient_step, decltype(r.level),
                                     page_in_turn<B>>{r.compressor, r.feedback, r.step, r.level, {rank}};
                },
                {{1, {.94140625, .86796875, 6.93774644852}},
                 {10, {.610616080965, .153249650751, 3.34537948134}},
                 {200, {.330357574826, -.408332790542, 2.57869277986}}});
    diloco_by(adam<double, B>({.rate = .05, .beta1 = .9, .beta2 = .95, .weight_decay = .1, .decoupled = true}),
              {{1, {.803769873703, .802657568805, 5.74760639267}},
               {10, {-.565467176992, -2.10049512552, 6.12150725624}},
               {50, {-.060077275896, -1.60288966573, 2.82502633052}}});
    // Rank 0's answer with a scale for each fourth of the vector: as if each rank answered one fourth.
    auto const one_bit = [](auto of_ranks, auto of_answers, std::initializer_list<bowls::known> answers) {
        one_bit_adam<decltype(of_ranks)> const by{.compressor = of_ranks, .warm_up = 10, .given = {.step = .05}};
        comes_to<B>("1-bit Adam, " + to_string(of_ranks),
                    by.template compose<double, B>(bowls::constants)
                        .with_over(served<decltype(of_answers), double, B>{of_answers, {0, 1}, 10}),
                    answers);
    };
    one_bit(scaled_sign{}, scaled_sign{2},
            {{10, {.161429619582, -1.04900926905, 4.29376435428}},
             {11, {.225106908564, -1.11595236719, 4.6551109153}},
             {60, {.456166974866, -.449236444, 5.64964271811}}});
    one_bit(rms_sign{}, rms_sign{2},
            {{10, {.161429619582, -1.04900926905, 4.29376435428}},
             {11, {.261475764688, -1.13617159966, 4.83104858586}},
             {60, {.202495462637, -.205990177393, 5.24137622282}}});
    ef21_muon const of_matrices{top_k{6}, .5, 4, orthogonalization::polar, {.step = .05}};
    comes_to<B>("EF21-Muon with answers",
                bidirectional{of_matrices, top_k{8}, 0, true}.template compose<double, B>({16, bowls::ranks}),
                {{1, {-.0196205059503, -.0119929669529, .01}}, {10, {-.223292832811, -.0515239153502, .839527949093}}},
                {.answers = .05, .matrix = true});
}

/// Methods whose draws are those of the answers: which ranks take part, and which rounds are long.
template <class B>
void known_by_hand() {
    using namespace laconic;
    using bowls::cyclic, bowls::round_by_hand;
    problem const p{bowls::d, bowls::ranks, 0, .5, 1.5, 0, .5};
    auto const composed = [&](auto const& method) { return method.template compose<double, B>(p); };
    // Ranks t and t + 1, modulo 4, take part in the t-th round, counted from 1.
    auto const in_turn = [](auto& r, auto const& f, auto& x, std::size_t step) {
        for (std::size_t i = 0; i < r.size(); ++i) {
            auto& c = r[i].compressor;
            auto const takes_part = [&](std::size_t t) { return (i + 3 + 3 * t) % 4 < 2; };
            c.bound = takes_part(step) ? 1 : -1;
            c.factor = 1;
            if constexpr (requires { c.second.inside.calls; }) {
                c.factor = 2;
                c.second.inside.calls = 0;
                for (std::size_t t = 0; t < step; ++t) c.second.inside.calls += takes_part(t);
            }
        }
        round_by_hand<B>(r, f, x, [](int rank) { return round_context::of(key{1}, 0, rank, bowls::ranks); });
    };
    come_by_hand_to<B>("EF21 of two of four",
                       [&](int) {
                           return composed(some_of{ef21{top_k{2}, {.step = .05}}, 2});
                       },
                       in_turn,
                       {{1, {1, .970703125, 7.83395835876}},
                        {10, {.822984695435, .498217452202, 4.76829285093}},
                        {400, {.330357144426, -.408333331951, 2.5786929381}}});
    come_by_hand_to<B>("DIANA of two of four",
                       [&](int rank) {
                           auto r = composed(some_of{diana{cyclic{2, rank}, {.step = .1}}, 2});
                           r.feedback = memory<double, B>(.125);  // (m / n) / (1 + omega)
                           return r;
                       },
                       in_turn,
                       {{1, {1, 1, 8.29868225098}},
                        {10, {.553774261475, -.240234375, 2.8333764232}},
                        {600, {.330357142857, -.408333333333, 2.57869293823}}});
    come_by_hand_to<B>(
        "LoCoDL",
        [&](int rank) {
            return composed(locodl<cyclic>{{2, rank}, .5, {.step = .5}});
        },
        [now = bowls::of_steps(2, .5, bowls::ranks)](auto& r, auto const& f, auto& x, std::size_t) {
            round_by_hand<B>(r, f, x, now);
        },
        {{1, {.432896205357, .765625, 5.33182109132}},
         {5, {-.0518626194667, -.390899151748, 2.34876983197}},
         {200, {.330357141773, -.408333333249, 2.57869291744}}});
    auto const adiana_by = [&](overrides const& given, std::initializer_list<bowls::known> answers) {
        come_by_hand_to<B>(
            "ADIANA",
            [&](int rank) {
                return composed(adiana<bowls::cyclic>{{2, rank, 0, 2}, given});
            },
            [](auto& r, auto const& f, auto& x, std::size_t step) {
                CHECK(to_string(r[0].estimator).ends_with("p=0.125)"));
                round_by_hand<B>(r, f, x, of_round(false, false, .125));
                round_by_hand<B>(r, f, x, of_round(true, step % 8 == 7, .125));
            },
            answers);
    };
    adiana_by({}, {{1, {.993950737847, 1, 7.95524098641}},
                   {10, {.970980902843, .943721244519, 7.4892615159}},
                   {400, {.331471774136, -.408650157536, 2.57899015501}}});
    adiana_by({.step = .2}, {{10, {.366056121141, -.41702838505, 2.84462626207}},
                             {400, {.330357142857, -.408333333333, 2.57869293823}}});
}

}  // namespace laws
