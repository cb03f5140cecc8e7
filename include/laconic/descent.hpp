// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "laconic/collective/agreement.hpp"
#include "laconic/collective/composition.hpp"
#include "laconic/comm/communicator.hpp"
#include "laconic/core/text.hpp"
#include "laconic/objective/objective.hpp"
#include "laconic/recursion.hpp"
#include "laconic/transport/broken_round.hpp"
#include "laconic/transport/error_frame.hpp"
#include "laconic/transport/gathered.hpp"
#include "laconic/transport/summed.hpp"
#include "laconic/transport/transport.hpp"
#include "laconic/wire/state.hpp"

namespace laconic {

/// The argument of an observer: the iterate x^k before round k, and this rank's own estimate of its gradient there.
template <class F, Scalar T>
struct observation {
    std::uint64_t round;
    std::span<T const> x, gradient;
    F const* objective;
    std::optional<double> known_value;

    /// f_i(x^k), for this rank's f_i; costs a pass over the data unless it came with the gradient.
    double value() const { return known_value ? *known_value : static_cast<double>(objective->value(x)); }
};

/// The loop of every method, on one rank. Each rank makes one, with the same recursion, seed and starting point, and
/// calls the same members in the same order. After its first round it allocates only where a collective's lists grow.
template <Recursion R, class F, Communicator C, Scalar T = double, class B = host>
class descent {
    static_assert(detail::require_objective<F, T>());

  public:
    using compressor_type = decltype(R::compressor);
    static_assert(detail::require_compressor<compressor_type, T, B>());
    using message_type = message_of<compressor_type, T, B>;
    static_assert(Feedback<decltype(R::feedback), T, B, message_type>,
                  "the recursion's feedback is none for these numbers: it may be a memory of another type");
    using transport_type = transport_for<decltype(R::transport), message_type, T, B>;
    static_assert(Transport<transport_type, C, message_type, decltype(R::feedback), T, B>,
                  "the recursion's transport is none for these messages (transport/transport.hpp)");
    static_assert(Estimator<decltype(R::estimator), F, T, B>,
                  "the estimator cannot use this objective: one that takes some rows needs samples() and "
                  "batch_gradient(rows, x, g), SAGA also outputs, slopes and add_row (objective/finite_sum.hpp)");

    /// x is the starting point, is moved in place and must outlive this. Throws argument_error where the compressor or
    /// the collective does not suit the dimension, or the collective the other parts; shape_error on every rank where
    /// ranks disagree on composition, dimension, seed or x.
    [[gnu::cold]] descent(R method, F const& objective, C& comm, std::span<T> x, std::uint64_t seed, B on = {},
                          position_code positions = position_code::smallest)
        : method_(std::move(method)),
          objective_(&objective),
          comm_(&comm),
          x_(require_dimension(x, objective)),
          seed_{seed},
          on_(std::move(on)),
          transport_(method_.transport, x.size(), positions),
          delta_(x.size()),
          mean_(x.size()) {
        check_dimension(x.size());
        method_.compressor.check(x.size());
        items_ = detail::composition_of<T>(method_, x.size(), seed);
        transport_.require_beside(method_.feedback, detail::described(method_.feedback));
        auto agreed = items_;
        agreed.add({"the starting point", digest(std::as_bytes(on_host(on_, std::span<T const>(x))))});
        agreed.add({"one process", detail::in_one_process(comm) ? "yes" : "no"});
        require_agreement(comm, agreed);
        method_.feedback.start(x.size());
        transport_.start(comm);
    }

    /// Estimates this rank's gradient at x^k; the next round() uses it. What the objective throws passes through, and
    /// then nothing has changed.
    observation<F, T> look() {
        require_whole();
        if (!looked_) {
            value_ = method_.estimator(on_, *objective_, now(), std::span<T const>(x_), std::span<T>(delta_));
            looked_ = true;
        }
        return {round_, x_, delta_, objective_, value_};
    }

    /// One round: every rank sends its message, receives all, and moves x in the same way. Throws non_finite_error on
    /// every rank where the gradient of a rank, or its delta, is not finite, and compression_error where a rank's
    /// feedback, level or compressor throws, or the server's: that rank has sent an error frame in place of a message,
    /// the others' messages are dropped unread, nothing has changed, and the next round() estimates the gradient anew.
    /// The same holds for a wire_error, of a rank's damaged message. But where a server's answer is damaged or lost,
    /// the server itself has moved on; where a collective breaks off, other ranks may have; and where a part throws
    /// after the messages have come, this rank has in part. In these cases every later look(), round() and save()
    /// throws comm_error until a saved state is restored.
    void round() {
        send();
        receive();
    }

    /// The first half of a round: makes this rank's message and, unless a collective is to add it up, starts to send
    /// it. Where the communicator is Overlapping and there is no server, it travels while the caller computes until
    /// receive().
    void send() {
        look();
        looked_ = false;
        make_message();
        transport_.send(on_, *comm_, now(), message_, frame_);
    }

    /// The second half: receives the messages of all ranks, and takes the step.
    void receive() {
        std::span<T> const mean(mean_);
        auto const at = now();
        auto const blank = [&](auto& on, int rank, auto& m) {
            method_.compressor.blank(on, x_.size(), round_context::of(seed_, round_, rank, comm_->size()).own, m);
        };
        transport_.receive(on_, *comm_, at, message_, frame_, blank, method_.feedback, mean);
        broken_.rank_moves();
        method_.feedback.update(on_, std::move(delta_), message_);
        transport_.give_back(on_, method_.feedback);
        transport_.reconstruct(on_, *comm_, at, method_.feedback, mean);
        method_.level.update(on_, std::span<T const>(x_), message_);
        method_.step(on_, x_, mean);
        method_.estimator.update(on_, std::span<T const>(x_));
        ++round_;
        broken_.make_whole();
    }

    /// The state of this rank on which the next rounds depend, for restore(). Call it between rounds.
    [[gnu::cold, gnu::noinline]] std::vector<std::byte> save() const {
        require_whole();
        auto& self = const_cast<descent&>(*this);  // state() only reads here
        state_writer archive(identity(), self.on_);
        self.state(archive);
        return archive.finish();
    }
    /// Restores the state of a run with the same recursion, seed, rank and number of ranks; the next rounds are then
    /// the same, bit for bit. Throws shape_error for another run's state, wire_error for damaged bytes; then nothing
    /// has changed.
    [[gnu::cold, gnu::noinline]] void restore(std::span<std::byte const> saved) {
        state_reader archive(saved, identity(), x_.size(), on_);
        state(archive);
        archive.rewind();
        state(archive);
        looked_ = false;
        broken_.make_whole();
        transport_.make_whole();
    }

    std::uint64_t rounds() const { return round_; }
    std::span<T const> x() const { return x_; }
    /// The recursion in its present state, whose parts give access to what they remember.
    R const& method() const { return method_; }
    message_type const& message() const { return message_; }
    transport_type const& transport() const { return transport_; }

  private:
    static std::span<T> require_dimension(std::span<T> x, F const& objective) {
        if (x.size() != static_cast<std::size_t>(objective.dimension()))
            throw shape_error(
                detail::concat({"x has ", x.size(), " numbers, the objective's dimension is ", objective.dimension()}));
        return x;
    }
    round_context now() const { return round_context::of(seed_, round_, comm_->rank(), comm_->size()); }

    // Makes this rank's message, or its error frame.
    void make_message() {
        std::span<T> const delta(delta_);
        auto const at = now();
        frame_.clear();
        try {
            if (!detail::make_delta(method_.feedback, on_, at, static_cast<T>(method_.scale), delta))
                return frame_.not_finite(first_non_finite(on_, std::span<T const>(delta)));
            method_.level.tune(on_, method_.compressor, at, std::span<T const>(x_), std::span<T const>(delta));
            method_.compressor(on_, std::span<T const>(delta), at.own, message_);
        } catch (std::exception const& e) {
            frame_.because(e.what());
        }
    }

    void require_whole() const {
        transport_.require_whole();
        broken_.require_whole(comm_->rank(), round_);
    }
    template <class Archive>
    void state(Archive& archive) {
        archive(round_);
        archive.span_there(x_);
        method_.state(archive);
        transport_.state(archive);
    }
    [[gnu::cold, gnu::noinline]] std::string identity() const {
        return detail::concat({items_.lines(), "rank ", comm_->rank(), " of ", comm_->size(), "\n"});
    }

    R method_;
    F const* objective_;
    C* comm_;
    std::span<T> x_;
    key seed_;
    B on_;
    transport_type transport_;
    typename B::template array<T> delta_, mean_;
    message_type message_;
    agreed_items items_;
    std::uint64_t round_ = 0;
    error_frame frame_;  // outlives send(), as an engine may send its bytes later
    std::optional<double> value_;
    bool looked_ = false;
    detail::broken_round broken_;
};

}  // namespace laconic
