// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "laconic/adapt/participation.hpp"
#include "laconic/method/overrides.hpp"
#include "laconic/recursion.hpp"

namespace laconic {

/// A method in each of whose rounds m of the n ranks send, drawn anew, every set of m equally likely (partial
/// participation, or the sampling of clients); the others send nothing, of no bits, and keep their shift and residual.
/// Every rank receives all messages, and computes its gradient: only messages are saved.
///
/// Around ef21 and ef21_sgdm (EF21-PP; Fatkhullin et al., arXiv:2110.03294) theorems hold with (m / n) delta in place
/// of delta, as their proofs take second moments of one rank at a time. Around diana (DIANA-PP) messages are multiplied
/// by n / m, and theorems hold with
///     omega' = (n / m) (omega + (n - m) / (n - 1))
/// in place of omega, as E|mean m_i - mean delta_i|^2 is at most (omega' / n) mean |delta_i|^2; a memory rate that is
/// given is m / n times the rate at which a rank that sends moves its shift. Around local_sgd x becomes the mean of the
/// models of those that send (FedAvg; McMahan et al., AISTATS 2017), and around scaffold those that send move their c_i
/// (Karimireddy et al., ICML 2020). A heavy_ball of one of these will do. Throws argument_error around other methods,
/// and around ef21 with control.
template <class M>
struct some_of {
    M method;
    std::uint64_t ranks = 1;  ///< m; all take part if there are no more

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        return drawn(method.template compose<T, B>(of_some(p)));
    }
    /// The recursion for f + R, where the method takes R's proximal operator.
    auto compose(problem const& p, auto const& prox) const requires requires(M const& m) { m.compose(p, prox); }
    { return drawn(method.compose(of_some(p), prox)); }

    bool operator==(some_of const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("some_of", "ef21, ef21_sgdm, diana, local_sgd or scaffold; so many ranks send in a round",
                 "EF21-PP: Fatkhullin et al., arXiv:2110.03294; DIANA-PP; SCAFFOLD: Karimireddy et al., ICML 2020",
                 field("method", &some_of::method).needed(),
                 field("ranks", &some_of::ranks).between(1, 1e9).written().by_name());
    }

  private:
    problem of_some(problem p) const {
        detail::check_fields(*this);
        if (detail::absence_of(method) == detail::when_absent::refused)
            throw argument_error(
                {"some_of: ", detail::described(method), " has no form in which some ranks send nothing"});
        if (ranks < static_cast<std::uint64_t>(p.workers)) p.participants = static_cast<int>(ranks);
        return p;
    }
    template <class C, class F, class S, class L, class E, class X>
    auto drawn(recursion<C, F, S, L, E, X> const& r) const {
        bool const rescaled = detail::absence_of(method) == detail::when_absent::rescaled;
        return recursion<of_participants<C>, F, S, participation<L>, E, X>{
            {{r.compressor}}, r.feedback, r.step, {ranks, rescaled, r.level}, r.estimator, r.over, r.scale};
    }
};
template <class M>
some_of(M, std::uint64_t = 1) -> some_of<M>;

}  // namespace laconic
