// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <utility>

#include "laconic/estimate/estimator.hpp"
#include "laconic/method/signsgd.hpp"
#include "laconic/reduction/majority_vote.hpp"

namespace laconic {

/// A reduction with a method's compressor, feedback and collective, under the method's name: see reduction_of.
template <class C, class F, class X>
struct method_reduction {
    static constexpr bool is_proved = true;

    C compressor;
    F initial_feedback;  ///< the feedback before the first step
    X over;
    std::string name;

    void check_proof(std::size_t d) const { compressor.check(d); }
    template <Scalar T, class B>
    F feedback(std::size_t) const {
        return initial_feedback;
    }
    friend std::string to_string(method_reduction const& r) { return r.name; }
};

/// The reduction of a method, for a reducer of numbers of T: its compressor, its shift or residual with the rate that
/// its theorem gives for this problem, and its collective. The gradient and the step, to which the theorem applies too,
/// are the caller's; for a method that scales the gradient by its step size use step_options::step_size. For methods
/// whose compressor is the same in all rounds and which have no server. Throws argument_error for one that corrects its
/// local steps, as what corrects them is no part of a reduction.
template <Scalar T = double, class B = host, class M>
requires Method<M, T, B>
auto reduction_of(M const& method, problem const& p) {
    auto r = method.template compose<T, B>(p);
    using C = decltype(r.compressor);
    using F = decltype(r.feedback);
    using X = decltype(r.over);
    static_assert(std::same_as<decltype(r.level), fixed_level>,
                  "this method's compressor changes from round to round with x, which a reducer does not have");
    static_assert(!detail::HasServer<X>, "this method has a server, which a reducer has not");
    if (detail::corrects_local_steps(r.estimator))
        throw argument_error(
            {"reduction_of: ", to_string(method), " needs its estimator and step, beside its messages"});
    return method_reduction<C, F, X>{std::move(r.compressor), std::move(r.feedback), std::move(r.over),
                                     to_string(method)};
}
template <Scalar T = double, class B = host>
majority_vote<> reduction_of(signsgd const&, problem const&) {
    return {};
}

}  // namespace laconic
