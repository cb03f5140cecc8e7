// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "laconic/loop_base.hpp"
#include "laconic/recursion.hpp"
#include "laconic/transport/gathered.hpp"
#include "laconic/transport/summed.hpp"

namespace laconic {

/// The loop of every method, on one rank. Each rank makes one, with the same recursion, seed and starting point, and
/// calls the same members in the same order. After its first round it allocates only where a collective's lists grow.
template <Recursion R, class F, Communicator C, Scalar T = double, class B = host>
class descent : public loop_base<descent<R, F, C, T, B>, F, C, T, B> {
    using base = loop_base<descent, F, C, T, B>;
    friend base;
    using base::comm_, base::delta_, base::looked_, base::on_, base::round_, base::x_;

  public:
    using compressor_type = decltype(R::compressor);
    static_assert(detail::require_compressor<compressor_type, T, B>());
    using message_type = detail::message_of<compressor_type, T, B>;
    static_assert(Feedback<decltype(R::feedback), T, B, message_type>,
                  "the recursion's feedback is none for these numbers: it may be a memory of another type");
    using transport_type = detail::transport_for<decltype(R::over), message_type, T, B>;
    static_assert(Transport<transport_type, C, message_type, decltype(R::feedback), T, B>,
                  "the recursion's transport is none for these messages (transport/transport.hpp)");
    static_assert(Estimator<decltype(R::estimator), F, T, B>,
                  "the estimator cannot use this objective: one that takes some rows needs samples() and "
                  "batch_gradient(rows, x, g), SAGA also outputs, slopes and add_row (objective/objective.hpp)");

    /// x is the starting point, is moved in place and must outlive this. Throws argument_error where the compressor or
    /// the collective does not suit the dimension, or the collective the other parts; agreement_error on every rank
    /// where ranks disagree on composition, dimension, seed or x.
    [[gnu::cold]] descent(R method, F const& objective, C& comm, std::span<T> x, std::uint64_t seed, B on = {},
                          position_code positions = position_code::smallest)
        : base(objective, comm, x, seed, std::move(on)),
          method_(std::move(method)),
          transport_(method_.over, x.size(), positions),
          mean_(x.size()) {
        detail::check_by_name(method_.compressor, x.size());
        transport_.require_beside(method_.feedback, "the feedback " + detail::described(method_.feedback));
        if constexpr (requires { transport_.is_robust(); })
            if (transport_.is_robust() && detail::corrects_local_steps(method_.estimator))
                throw argument_error(
                    "local steps that are corrected by the mean of the models need that mean, not robust");
        this->agree(detail::composition_of(method_));
        method_.feedback.start(x.size());
        transport_.start(comm);
    }

    /// One round: every rank sends its message, receives all, and moves x in the same way. Throws non_finite_error on
    /// every rank where the gradient of a rank, or its delta, is not finite, and compression_error where a rank's
    /// feedback, level or compressor throws, or the server's: that rank has sent an error frame in place of a message,
    /// the others' messages are dropped unread, nothing has changed, and the next round() estimates the gradient anew.
    /// The same holds for a wire_error, of a rank's damaged message. Where a server's answer is damaged or lost, a
    /// collective breaks off, or a part throws after the messages have come, some ranks may have moved on: every later
    /// look(), round() and save() throws comm_error until a saved state is restored.
    void round() {
        send();
        receive();
    }

    /// The first half of a round: makes this rank's message and, unless a collective is to add it up, starts to send
    /// it. Where the communicator is Overlapping and there is no server, it travels while the caller computes until
    /// receive().
    void send() {
        this->look();
        looked_ = false;
        make_message();
        transport_.send(on_, *comm_, this->now(), message_, own_);
    }

    /// The second half: receives the messages of all ranks, and takes the step.
    void receive() {
        std::span<T> const mean(mean_);
        auto const at = this->now();
        auto const blank = [&](auto& on, int rank, auto& m) -> auto const& {
            method_.compressor.blank(on, x_.size(), this->own_of(rank), m);
            return method_.compressor;
        };
        transport_.receive(on_, *comm_, at, message_, own_, blank, method_.feedback, mean);
        broken_.rank_moves();
        method_.feedback.update(on_, std::move(delta_), message_);
        transport_.give_back(on_, method_.feedback);
        transport_.reconstruct(on_, *comm_, at, method_.feedback, mean);
        detail::show_estimate(method_.feedback, on_, std::span<T const>(mean_));
        method_.level.update(on_, std::span<T const>(x_), message_);
        detail::before_step(method_.estimator, on_, x_, message_);
        method_.step(on_, x_, mean);
        method_.estimator.update(on_, std::span<T const>(x_));
        ++round_;
        broken_.recover();
    }

    /// The recursion in its present state, whose parts give access to what they remember.
    R const& method() const { return method_; }
    message_type const& message() const { return message_; }
    transport_type const& transport() const { return transport_; }

  private:
    std::optional<double> estimate() {
        return method_.estimator(on_, *base::objective_, this->now(), std::span<T const>(x_), std::span<T>(delta_));
    }

    // Makes this rank's message, or its failure.
    void make_message() {
        std::span<T> const delta(delta_);
        auto const at = this->now();
        own_ = detail::failure::of_making(comm_->rank(), round_, [&] {
            if (!detail::make_delta(method_.feedback, on_, at, static_cast<T>(method_.scale), delta))
                return detail::failure::not_finite(first_non_finite(on_, std::span<T const>(delta)));
            method_.level.tune(on_, method_.compressor, at, std::span<T const>(x_), std::span<T const>(delta));
            method_.compressor(on_, std::span<T const>(delta), at.own, message_);
            return detail::failure();
        });
    }

    void require_consistent() const {
        transport_.require_consistent();
        broken_.require_consistent(comm_->rank(), round_);
    }
    void recover() {
        broken_.recover();
        transport_.recover();
    }
    void state(auto& archive) {
        method_.state(archive);
        transport_.state(archive);
    }

    R method_;
    transport_type transport_;
    typename B::template array<T> mean_;
    message_type message_;
    detail::failure own_;
    detail::broken_round broken_;
};

}  // namespace laconic
