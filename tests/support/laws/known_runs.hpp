// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/compress/top_k.hpp"
#include "laconic/method/bidirectional.hpp"
#include "laconic/method/ef21.hpp"
#include "laconic/method/ef_sgd.hpp"
#include "laconic/method/local_sgd.hpp"
#include "laconic/method/with_step.hpp"
#include "support/bowl_runs.hpp"

/// Known answers of methods whose iterate and memories live on a backend.
namespace laws {

/// A bowl of one rank, worked out on the host.
template <class B>
struct bowl_on {
    int rank;
    mutable B on{};

    std::size_t dimension() const { return bowls::d; }
    double value(std::span<double const> x) const { return bowls::bowl{rank}.value(here(x)); }
    void gradient(std::span<double const> x, std::span<double> g) const {
        auto const at = here(x);
        bowls::vec slope(at.size());
        bowls::gradient(rank, at, slope);
        copy_from_host(on, std::span<double const>(slope), g);
    }

  private:
    bowls::vec here(std::span<double const> x) const {
        bowls::vec copy(x.size());
        copy_to_host(on, x, std::span<double>(copy));
        return copy;
    }
};

template <class B, class R>
void comes_to(std::string const& name, R const& r, std::initializer_list<bowls::known> answers) {
    using namespace laconic;
    CAPTURE(name);
    std::vector<bowls::vec> seen;
    fibers::run(bowls::ranks, [&](fibers::member& comm) {
        B on;
        typename B::template array<double> x(bowls::d);
        fill(on, std::span<double>(x), 1.0);
        bowl_on<B> const f{comm.rank()};
        descent<R, bowl_on<B>, fibers::member, double, B> run(r, f, comm, std::span<double>(x), 1, on);
        std::size_t round = 0;
        for (auto const& k : answers) {
            for (; round < k.round; ++round) run.round();
            if (comm.rank() > 0) continue;
            seen.emplace_back(bowls::d);
            copy_to_host(on, std::span<double const>(x), std::span<double>(seen.back()));
        }
    });
    std::size_t i = 0;
    for (auto const& k : answers) {
        CAPTURE(k.round);
        bowls::check(seen.at(i++), k.x);
    }
}

template <class B>
void known_answers() {
    using namespace laconic;
    auto const is = [](auto const& method, std::initializer_list<bowls::known> answers) {
        comes_to<B>(to_string(method), method.template compose<double, B>(bowls::constants), answers);
    };
    {
        auto r = ef_sgd{top_k{2}, {.step = .05}}.template compose<double, B>(bowls::constants);
        r.feedback = memory<double, B>(0, .95);
        comes_to<B>(
            "error feedback that forgets", r,
            {{10, {.781189672539, .519080292722, 4.90696393039}}, {200, {.309789313428, -.43822262892, 2.7632136748}}});
    }
    is(ef21{top_k{2}, {.step = .2}},
       {{10, {.416091638947, -.279521022224, 2.62508483245}}, {100, {.330357142866, -.408333333327, 2.57869293822}}});
    is(ef21_sgdm{top_k{2}, .5, {.step = .2}},
       {{10, {.348911760449, -.422033785978, 2.70565362938}}, {100, {.330357143797, -.4083333333, 2.57869293931}}});
    is(ef21{top_k{2}, {.step = .1}, false, .1},
       {{10, {.574989908583, .0913876762078, 3.0050359129}}, {200, {.330357243787, -.408333262338, 2.57869290972}}});
    is(bidirectional{ef21{top_k{2}, {.step = .1}}, top_k{3}, 1},
       {{10, {.603354492188, .107156039029, 3.22463977909}}, {200, {.330357142946, -.408333331822, 2.57869293731}}});
    is(clip21{1, .5, {.step = .2, .memory = .5}},
       {{1, {.985923629357, .971261320863, 7.77817369437}}, {9, {.466383688792, -.0997205037847, 2.8964492761}}});
    is(local_sgd{5, .5, {.step = .1}},
       {{10, {.259656746999, -.387112027603, 2.33677143242}}, {50, {.245334388042, -.40820477409, 2.34179959845}}});
    is(heavy_ball{local_sgd{5, 0, {.step = .1}}, .7},
       {{10, {.369044537254, -.189440610547, 2.40390858578}}, {50, {.244832401757, -.408143234795, 2.34007843763}}});
    is(scaffold{5, {.step = .1}},
       {{10, {.336309833525, -.39881190751, 2.57435046917}}, {60, {.330357142858, -.408333333333, 2.57869293823}}});
    if constexpr (OnHost<B>) {
        adam<double, B> const inner({.rate = .05, .beta1 = .9, .beta2 = .95, .weight_decay = .1, .decoupled = true});
        using rounds = local_rounds<adam<double, B>, double, B>;
        recursion<identity, memory<double, B>, momentum<double, B>, fixed_level, rounds> const diloco{
            {}, {}, momentum<double, B>({.rate = .7, .beta = .9, .nesterov = true}), {}, rounds({.steps = 5}, inner)};
        comes_to<B>("DiLoCo", diloco,
                    {{10, {-.565467176992, -2.10049512552, 6.12150725624}},
                     {50, {-.060077275896, -1.60288966573, 2.82502633052}}});
    }
}

}  // namespace laws
