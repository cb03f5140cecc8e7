// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "laconic/any/recursion.hpp"
#include "laconic/optim/step.hpp"
#include "support/real_data.hpp"
#include "support/states.hpp"

// Methods by their texts, over any objectives: one type of run, which is compiled once, in toys.cpp; and problems whose
// constants and whose optimum are known.
namespace toys {

using any_objectives = std::vector<laconic::any_objective<>>;
using any_run = lockstep<laconic::any_recursion<>, laconic::any_objective<>>;
extern template class lockstep<laconic::any_recursion<>, laconic::any_objective<>>;
extern template std::vector<snapshot<double>> history(laconic::any_recursion<> const&, any_objectives const&,
                                                      vec const&, std::size_t, std::uint64_t,
                                                      laconic::threads::settings);

/// The recursion of the method that has this text, for f or for f + R.
laconic::any_recursion<> named(std::string const& method, laconic::problem const& p);
laconic::any_recursion<> named(std::string const& method, laconic::problem const& p, laconic::elastic_net const& prox);

/// What a part behind a face remembers, in a part like the one inside.
template <class Part, class Held>
Part part_of(Held const& held, Part like = Part{}) {
    restore(like, saved(held));
    return like;
}
inline laconic::memory<> memory_of(any_run const& run, std::size_t rank) {
    auto const& feedback = run.method(rank).feedback;
    auto const text = to_string(feedback);
    bool const learns = text.find("rate=0)") == text.npos && text.find("rate=0,") == text.npos;
    laconic::memory<> like(learns ? 1 : 0, text.find("decay=") == text.npos ? 0 : 1);
    like.start(run.x().size());
    return part_of(feedback, like);
}
/// The shifts of all ranks, which are 0 before the first round.
inline std::vector<vec> shifts_of(any_run const& run, std::size_t ranks) {
    std::vector<vec> all;
    for (std::size_t i = 0; i < ranks; ++i) {
        all.push_back(copied(memory_of(run, i).shift()));
        all.back().resize(run.x().size());
    }
    return all;
}

struct task {
    std::string name;
    any_objectives f;
    laconic::problem p;
    known_optimum best;
    vec start;

    double workers() const { return static_cast<double>(f.size()); }
    double value(std::span<double const> x) const { return mean_value(f, x); }
    double gap(std::span<double const> x) const { return value(x) - best.value; }
    /// mean_i |h_i - grad f_i(x*)|^2.
    double off(std::vector<vec> const& h) const {
        double sum = 0;
        for (std::size_t i = 0; i < h.size(); ++i) sum += distance2(h[i], best.gradients[i]) / workers();
        return sum;
    }
};
template <class F>
task task_of(std::string name, std::vector<F> const& f, laconic::problem const& p, known_optimum best, vec start) {
    return {std::move(name), any_objectives(f.begin(), f.end()), p, std::move(best), std::move(start)};
}

/// Ridge regressions, from (1, .., 1).
task ridges(int n, Eigen::Index d, std::uint64_t seed);
/// These with d = 6; and real data, from 0, where there are some.
std::vector<task> tasks(int ranks);

}  // namespace toys
