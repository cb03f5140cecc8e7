// SPDX-License-Identifier: Apache-2.0
#include "race_run.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <span>
#include <variant>

#include "laconic/comm/metered.hpp"
#include "laconic/comm/threads.hpp"
#include "laconic/descent.hpp"

namespace race {
namespace {

// All ranks' `count` numbers, summed in the order of ranks: the same on every rank. Not metered: a race is watched from
// outside.
template <class C>
void sum_over_ranks(C& comm, std::span<double> numbers) {
    comm.all_gather({std::as_bytes(std::span<double const>(numbers))});
    std::fill(numbers.begin(), numbers.end(), 0.0);
    for (int r = 0; r < comm.size(); ++r) {
        auto const theirs = comm.from(r).bytes;
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            double v = 0;
            std::memcpy(&v, theirs.data() + i * sizeof v, sizeof v);
            numbers[i] += v;
        }
    }
}

template <class F, class R>
void run_rank(R recursion, contest<F> const& on, settings const& how, progress const& show,
              laconic::threads::member& comm, result& out) {
    laconic::metered meter(comm);
    F const& f = on.workers[static_cast<std::size_t>(comm.rank())];
    bool const first = comm.rank() == 0;
    double const share = 1.0 / comm.size();
    std::vector<double> x(on.constants.dimension), gradient(x.size());
    double start = 0;
    auto const watch = [&](auto const& now) {
        std::array<double, 3> sums = {now.value(), 8.0 * static_cast<double>(meter.bytes_sent()),
                                      8.0 * static_cast<double>(meter.bytes_received())};
        gradient.assign(now.gradient.begin(), now.gradient.end());
        sum_over_ranks(comm, sums);
        mark const m{now.round, sums[1] * share, sums[0] * share - on.least_mean};
        if (now.round == 0) start = m.suboptimality;
        bool const diverged = !(m.suboptimality <= 1e3 * std::abs(start) + 1e3);
        bool const reached = m.suboptimality <= how.target;
        if (first) {
            out.trace.push_back(m);
            out.rounds = m.round;
            out.bits_up = m.bits_up;
            out.bits_down = sums[2] * share;
            out.suboptimality = m.suboptimality;
            out.diverged = diverged;
            if (reached) out.reached = m;
            show(m);
        }
        return !diverged && !reached;
    };
    try {
        laconic::descend(std::move(recursion), f, x, meter, {how.rounds, how.seed}, watch);
    } catch (laconic::non_finite_error const&) {  // thrown on every rank alike
        if (first) out.diverged = true;
    }
    sum_over_ranks(comm, gradient);
    double square = 0;
    for (double const g : gradient) square += g * share * g * share;
    if (first) out.gradient_norm = std::sqrt(square);
}

}  // namespace

template <class F>
result run(laconic::any_method<double> const& method, contest<F> const& on, settings const& how, progress const& show) {
    result out;
    out.method = laconic::to_string<double>(method);
    auto const begin = std::chrono::steady_clock::now();
    std::visit(
        [&](auto const& chosen) {
            auto const recursion = chosen.template compose<double, laconic::host>(on.constants);
            recursion.compressor.check(on.constants.dimension);
            out.step = recursion.scale * recursion.step.rate;
            laconic::threads::run(on.constants.workers,
                                  [&](auto& comm) { run_rank(recursion, on, how, show, comm, out); },
                                  {how.at_once, {}});
        },
        method);
    out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return out;
}

template result run(laconic::any_method<double> const&, contest<laconic::logistic<>> const&, settings const&,
                    progress const&);
template result run(laconic::any_method<double> const&, contest<laconic::ridge<>> const&, settings const&,
                    progress const&);

}  // namespace race
