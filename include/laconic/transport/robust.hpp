// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/feedback/feedback.hpp"
#include "laconic/transport/gathered.hpp"
#include "laconic/transport/robust_rules.hpp"

namespace laconic {

namespace detail {
template <class Rule, class M, Scalar T, class B>
class robustly_gathered;
}

/// A transport for ranks of which some may send any vector of finite numbers: all gather all messages, and the estimate
/// is what a rule of robust_rules makes of them, such as robust{robust_rules::coordinate_median{}} or
/// robust{robust_rules::krum{2}}; each rank computes it of the same bytes, so that all have the same bits. A coordinate
/// that a rank does not send counts as 0: take a compressor that sends all, or rand_k, whose ranks can share their
/// coordinates; or mean_over_senders, which counts who sent it. The rule is about what the messages hold: behind dct,
/// about cosines, but behind hadamard, whose rotations differ among ranks, about the vectors. A rank whose gradient is
/// not finite, or whose message cannot be read, ends the round on all ranks, as with other transports. Memory: n + 2
/// vectors, and what the rule allocates. It takes the place of a collective in methods and in reductions; a reducer's
/// layers in full are averaged all the same.
///
/// What a rank keeps for later, a residual, a shift or its last gradient, is of use only if the mean of all messages is
/// applied. So this transport is refused beside a feedback that keeps something, unless `beside_memory`: then no
/// theorem holds. Local steps that are corrected by the mean of the models (scaffold, proxskip) are refused in any
/// case.
template <class Rule>
struct robust {
    Rule rule{};
    bool beside_memory = false;

    template <class M, Scalar T, class B>
    using transport = detail::robustly_gathered<Rule, M, T, B>;

    static constexpr void description(auto&& describe) {
        describe("robust", "of all messages, what a rule makes of them if some may be wrong", "",
                 field("rule", &robust::rule).written(), field("beside_memory", &robust::beside_memory).by_name());
    }
    bool operator==(robust const&) const = default;
};
template <class Rule>
robust(Rule) -> robust<Rule>;
template <class Rule>
robust(Rule, bool) -> robust<Rule>;

namespace detail {

/// The transport `robust`.
template <class Rule, class M, Scalar T, class B>
class robustly_gathered : public gathered<M, T, B> {
    static_assert(OnHost<B>, "robust rules are for vectors in the host's memory");
    using base = gathered<M, T, B>;

  public:
    robustly_gathered(robust<Rule> how, std::size_t d, position_code positions)
        : base({}, d, positions), how_(std::move(how)), last_(d), next_(d) {}

    static constexpr bool is_robust() { return true; }
    /// Throws argument_error where the feedback keeps something, or does not say that it keeps nothing.
    template <class F>
    void require_beside([[maybe_unused]] F const& feedback, std::string const& described) const {
        bool remembers = true;
        if constexpr (requires { feedback.rate(); }) remembers = feedback.rate() != 0;
        if constexpr (KeepsLeftover<F>) remembers = remembers || feedback.keeps_leftover();
        if constexpr (requires { feedback.keeps_residual(); }) remembers = remembers || feedback.keeps_residual();
        if (remembers && !how_.beside_memory)
            throw argument_error({"robust applies something else than the mean of the messages, on which what ",
                                  described,
                                  " remembers relies: take one without a residual and shifts, or say "
                                  "beside_memory, for which there is no theorem"});
    }
    /// Throws argument_error where the rule does not suit so many ranks.
    void start(Communicator auto& comm) { how_.rule.check(static_cast<std::size_t>(comm.size())); }
    static constexpr bool travels_alone(auto&) { return false; }
    /// mean <- what the rule makes of all messages, the same bits on all ranks. Throws as gathered::receive() does.
    template <Communicator C, class Blank, class F>
    void receive(B& on, C& comm, round_context const& now, M const&, failure const&, Blank blank, F const&,
                 std::span<T> mean, int lane = 0) {
        auto messages = this->arrived(comm, now, lane);
        std::size_t const d = mean.size();
        all_.assign(static_cast<std::size_t>(comm.size()) * d, T(0));
        for (int r = 0; r < comm.size(); ++r)
            read_bytes_from(messages, r, [&](wire::bit_reader& source) {
                auto const theirs = std::span<T>(all_).subspan(static_cast<std::size_t>(r) * d, d);
                this->encoding_.read_and_add(source, blank, r, on, this->theirs_, T(1), theirs);
            });
        how_.rule(robust_rules::rank_vectors<T>{all_, d}, std::span<T const>(last_), mean);
        next_.assign(mean.begin(), mean.end());
        messages::turn_back(on, mean, std::as_const(this->theirs_));
    }
    /// The round has succeeded: its estimate is the last one from now on.
    void give_back(B&, auto&) { last_.swap(next_); }
    /// The last estimate.
    void state(auto& archive) { archive.of_dimension(last_.size()), archive(last_); }

  private:
    robust<Rule> how_;
    std::vector<T> all_, last_, next_;
};

}  // namespace detail

}  // namespace laconic
