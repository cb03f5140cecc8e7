// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/core/term.hpp"
#include "laconic/reduction/caller_vector.hpp"
#include "laconic/reduction/reduction.hpp"
#include "laconic/reduction/step_communicator.hpp"
#include "laconic/transport/full_mean.hpp"

namespace laconic::detail {

/// The momentum of a reduction that has one, which dense layers have, too; else 0.
double momentum_of(auto const& r) {
    if constexpr (requires { r.momentum; }) return r.momentum;
    return 0;
}
/// Whether that is common to all ranks.
bool has_common_momentum(auto const& r) {
    if constexpr (requires { r.common; }) return r.common;
    return false;
}
/// The memory of a layer in full, and what such a layer is.
template <Scalar T, class B>
memory<T, B> memory_in_full(auto const& r) {
    return {0, 0, momentum_of(r), true, false, false, has_common_momentum(r)};
}
std::string described_in_full(auto const& r) {
    if (momentum_of(r) == 0) return "in full";
    return concat({"in full, momentum=", momentum_of(r), (has_common_momentum(r) ? ", common" : "")});
}

/// The state of a layer of a reducer: a feedback, and the step size at which its residual was made.
template <class F, Scalar T, class B>
class layer_memory {
  public:
    /// For vectors of d numbers.
    layer_memory(F fresh, std::size_t d) : fresh_(std::move(fresh)), feedback_(fresh_), d_(d) {
        if (d_ > 0) feedback_.start(d_);
    }

    F& feedback() { return feedback_; }
    F const& feedback() const { return feedback_; }

    /// Throws argument_error for a weight other than the mean weight beside a rule or a shift, which know no weights.
    void check_share(double share, bool by_rule = false) const {
        if (share != 1 && by_rule)
            throw argument_error(
                "a weight other than the other ranks' cannot be combined with robust, which counts ranks");
        if constexpr (HasShift<F, B>)
            if (share != 1 && feedback_.rate() != 0)
                throw argument_error("a weight other than the other ranks' cannot be combined with a shift");
    }
    /// out <- scale x - h + decay e, with e at this step size where one is given: returns last(sum), which makes the
    /// last sum, and returns whether all of it is finite.
    bool with_delta(B& on, round_context const& now, T scale, std::span<T const> x, std::optional<double> step_size,
                    std::span<T> out, auto last) const {
        T const waited = static_cast<T>(step_size && step_size_ > 0 ? step_size_ / *step_size : 1);
        auto& same = const_cast<F&>(feedback_);  // its state does not change
        return detail::with_delta(same, on, now, scale, x, waited, out, last);
    }
    /// Marks the residual as made at this step size, where one is given.
    void set_step_size(std::optional<double> step_size) { step_size_ = step_size.value_or(step_size_); }
    /// Sets mean h to the mean of these ranks' h, and a momentum that is common to all to that of rank `latest`, which
    /// has taken the most steps; `room` is workspace of d numbers. A collective call.
    void renew_common(B& on, Communicator auto& comm, std::uint64_t round, int latest, std::span<T> room) {
        if constexpr (HasShift<F, B>)
            if (!feedback_.shift().empty()) {  // not mean_shift(), which may be empty on some ranks
                round_context now;
                now.round = round;
                auto const own = [&](failure&) { copy(on, feedback_.shift(), room); };
                full_mean<gather_all, T, B>({}, d_)(on, comm, now, room, own);
                feedback_.set_mean_shift(on, std::span<T const>(room));
            }
        if constexpr (requires { feedback_.common_momentum(); })
            if (auto const u = feedback_.common_momentum(); !u.empty()) {
                auto const theirs = broadcast_from(comm, latest, std::as_bytes(std::span<T const>(on_host(on, u))));
                std::vector<T> here(d_);
                std::memcpy(here.data(), theirs.data(), theirs.size());
                copy_from_host(on, std::span<T const>(here), room);
                feedback_.follow(on, std::span<T const>(room));
            }
    }

    std::size_t bytes() const {
        std::size_t all = 0;
        if constexpr (HasShift<F, B>) all += feedback_.shift().size_bytes() + feedback_.mean_shift().size_bytes();
        if constexpr (HasResidual<F>) all += feedback_.residual().size_bytes();
        if constexpr (requires { feedback_.momentum(); }) all += feedback_.momentum().size_bytes();
        if constexpr (requires { feedback_.stored_bytes(); }) all += feedback_.stored_bytes();
        return all;
    }
    double residual_squared(B& on) const {
        if constexpr (HasResidual<F>) return sum_of_squares(on, feedback_.residual());
        return 0;
    }
    /// A digest of the part of the estimate that was sent, and of the mean shift: both must be the same on all ranks.
    std::uint64_t digest_with(B& on, std::span<T const> mean) const {
        auto const of = [&](std::span<T const> x) { return fingerprint(std::as_bytes(on_host(on, x))); };
        if constexpr (HasShift<F, B>) return of(mean) ^ (3 * of(feedback_.mean_shift()));
        return of(mean);
    }

    /// Throws argument_error where the states of several such feedbacks cannot be added.
    void require_add() const {
        if constexpr (!AddsUp<F, T, B>)
            throw argument_error("this feedback cannot be restored on another number of ranks");
    }
    /// Merges the states of several ranks: call add_state() after state() has read each, and then take_mean_state()
    /// with their number.
    void add_state(B& on) {
        if constexpr (AddsUp<F, T, B>) {
            if (!sum_of_states_) {
                sum_of_states_ = fresh_;
                if (d_ > 0) sum_of_states_->start(d_);
            }
            sum_of_states_->add(on, T(1), feedback_);
        }
    }
    void take_mean_state(B& on, int ranks) {
        if constexpr (AddsUp<F, T, B>) {
            sum_of_states_->scale(on, T(1) / static_cast<T>(ranks));
            feedback_ = std::move(*sum_of_states_);
            sum_of_states_.reset();
        }
    }
    /// e_i of a layer of d numbers, in place. Throws argument_error where there is none, with its title and
    /// description.
    std::span<T const> residual(std::size_t d, std::string const& title, std::string const& described) const {
        if constexpr (HasResidual<F>)
            if (auto const e = feedback_.residual(); e.size() == d) return e;
        throw argument_error({title, " has no residual: ", described});
    }
    void set_residual(B& on, std::span<T const> x, std::size_t d, std::string const& title,
                      std::string const& described) {
        if (residual(d, title, described); x.size() != d)
            throw shape_error({title, ": a residual of ", x.size(), " numbers, where it has ", d});
        if (auto const j = first_non_finite(on, x); j < d)
            throw argument_error({title, ": the residual is not finite at coordinate ", j});
        if constexpr (requires { feedback_.set_residual(on, x); })
            feedback_.set_residual(on, x);
        else
            throw argument_error({title, ": the residual of this feedback cannot be set"});
    }
    void state(auto& archive) { archive(step_size_, feedback_); }
    /// Reads the state of a layer of any length whose feedback is a memory, for another to take().
    void any_state(auto& archive) { archive(step_size_), feedback_.any_state(archive); }
    /// Begins anew, from the state of another layer where one is given.
    void take(B& on, layer_memory const* saved) {
        feedback_ = fresh_, step_size_ = 0;
        if (d_ > 0) feedback_.start(d_);
        if (!saved) return;
        step_size_ = saved->step_size_;
        feedback_.add(on, T(1), saved->feedback_);
        feedback_.set_mean_shift(on, saved->feedback_.mean_shift());
    }

  private:
    F fresh_, feedback_;
    std::size_t d_;
    double step_size_ = 0;  // of the last step that had one
    std::optional<F> sum_of_states_;
};

/// Tells, before a layer's state changes, whether its estimate can be written.
template <class R, Scalar T, class B>
class writable_estimate {
    using message_type = message_of<decltype(R::compressor), T, B>;

  public:
    /// The first number of the estimate that the feedback and `how` will make of the messages' `mean` whose magnitude
    /// is above `largest` once it is multiplied by `scale`, or that is not finite; the length where there is none.
    /// Cost: none where the scale is 1 and `largest` that of T, as then every number of T can be written; else a pass,
    /// and beside a shift, or for a reduction that finishes the estimate, two more, and memory of as many numbers.
    std::size_t first_beyond(B& on, R const& how, round_context const& now, int ranks, auto const& feedback,
                             std::span<T const> mean, bool in_full, T scale, T largest) {
        if (scale == 1 && largest == std::numeric_limits<T>::max()) return mean.size();
        T const most = largest_before(scale, largest);
        auto const estimate = preview(on, how, now, ranks, feedback, mean, in_full);
        if (largest_magnitude(on, estimate) <= most) return mean.size();
        auto const there = on_host(on, estimate);
        auto const beyond = [&](T v) { return !(std::abs(v) <= most); };
        return static_cast<std::size_t>(std::find_if(there.begin(), there.end(), beyond) - there.begin());
    }

  private:
    template <class F>
    std::span<T const> preview(B& on, R const& how, round_context const& now, int ranks, F const& feedback,
                               std::span<T const> mean, bool in_full) {
        if constexpr (HasShift<F, B> && !FinishesEstimate<R, message_type, T, B>)
            if (feedback.mean_shift().empty()) return mean;
        estimate_.resize(mean.size());
        std::span<T> const estimate(estimate_);
        copy(on, mean, estimate);
        if constexpr (Previews<F, T, B>)
            feedback.preview(on, now, estimate);
        else
            F(feedback).reconstruct(on, now, estimate);
        if constexpr (FinishesEstimate<R, message_type, T, B>)
            if (!in_full) how.finish_estimate(on, ranks, estimate, spare_);
        return estimate;
    }

    typename B::template array<T> estimate_;
    message_type spare_;
};

}  // namespace laconic::detail
