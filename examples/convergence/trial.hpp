// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "laconic/any/compressor.hpp"
#include "laconic/comm/fibers.hpp"
#include "laconic/descent.hpp"
#include "laconic/estimate/estimator.hpp"
#include "line.hpp"

namespace convergence {

/// What the ranks hold after so many rounds: x, which is the same on all, and of each rank h_i, e_i and what was asked
/// for besides.
struct standing {
    vec x;
    std::vector<vec> known, residual, more;
};
using course = std::vector<standing>;

/// The library's loop on every worker of a toy, as fibers of this thread; element k of the course is after k rounds.
/// more(descent) gives what is asked for besides.
template <class Recursion, class More = nothing_more>
void run(std::vector<Recursion> const& methods, toy const& on, std::uint64_t seed, course& all, More more = {}) {
    using namespace laconic;
    auto const n = on.workers.size();
    for (auto& at : all) {
        at.known.resize(n);
        at.residual.resize(n);
        at.more.resize(n);
    }
    auto const copy = [](std::span<double const> from, vec& to) { to.assign(from.begin(), from.end()); };
    fibers::run(static_cast<int>(n), [&](fibers::member& comm) {
        auto const i = static_cast<std::size_t>(comm.rank());
        auto x = on.start;
        descent<Recursion, worker, fibers::member> loop(methods[i % methods.size()], on.workers[i], comm,
                                                        std::span<double>(x), seed);
        for (std::size_t k = 0;; ++k) {
            if (i == 0) all[k].x = x;
            auto const& feedback = loop.method().feedback;
            if constexpr (requires { feedback.shift(); }) copy(feedback.shift(), all[k].known[i]);
            if constexpr (requires { feedback.residual(); }) copy(feedback.residual(), all[k].residual[i]);
            more(loop, all[k].more[i]);
            if (k + 1 == all.size()) break;
            loop.round();
        }
    });
}

/// What most methods are composed to, their compressor behind any_compressor, so that the loop is compiled once.
using common = laconic::recursion<laconic::any_compressor<>, laconic::memory<>, laconic::gradient_step>;
extern template void run(std::vector<common> const&, toy const&, std::uint64_t, course&, nothing_more);

template <class R>
common as_common(R const& r) {
    if constexpr (requires { r.step.prox; })
        return {r.compressor, r.feedback, r.step.step, {}, r.estimator, {}, r.scale};
    else
        return {r.compressor, r.feedback, r.step, {}, r.estimator, {}, r.scale};
}
template <class M>
auto composed(M const& method, toy const& on) {
    return method.template compose<double, laconic::host>(on.constants);
}

/// v(course, k), the function that a theorem bounds, for k = 0 .. rounds, over runs with other seeds. The courses go
/// one round further.
template <class Recursion, class V, class More = nothing_more>
measured measure(std::vector<Recursion> const& methods, toy const& on, std::size_t rounds, std::size_t runs, V v,
                 More more = {}) {
    course all(rounds + 2);
    return averaged(runs, [&](std::uint64_t seed) {
        run(methods, on, seed, all, more);
        vec now;
        for (std::size_t k = 0; k <= rounds; ++k) now.push_back(v(all, k));
        return now;
    });
}
template <class Recursion, class V, class More = nothing_more>
requires laconic::Recursion<Recursion> measured measure(Recursion const& method, toy const& on, std::size_t rounds,
                                                        std::size_t runs, V v, More more = {}) {
    return measure(std::vector{method}, on, rounds, runs, v, more);
}

}  // namespace convergence
