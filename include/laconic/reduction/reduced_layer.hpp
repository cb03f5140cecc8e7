// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "laconic/backend/array.hpp"
#include "laconic/collective/agreement.hpp"
#include "laconic/comm/communicator.hpp"
#include "laconic/compress/identity.hpp"
#include "laconic/core/round_context.hpp"
#include "laconic/core/text.hpp"
#include "laconic/reduction/caller_vector.hpp"
#include "laconic/reduction/exact_mean.hpp"
#include "laconic/reduction/layer_memory.hpp"
#include "laconic/reduction/named_layer.hpp"
#include "laconic/reduction/options.hpp"
#include "laconic/reduction/reduction.hpp"
#include "laconic/reduction/writable_estimate.hpp"
#include "laconic/transport/error_frame.hpp"
#include "laconic/transport/gathered.hpp"
#include "laconic/transport/message_tag.hpp"
#include "laconic/transport/served.hpp"
#include "laconic/transport/summed.hpp"

namespace laconic::detail {

/// One layer of a reducer, on one rank: its state, and the step that it is in. Until commit() a step does not change
/// the state. Memory, beside the feedback's: 2 d numbers, or 3 d (writable_estimate.hpp), and the messages'.
template <class R, Scalar T, class B>
class reduced_layer : public named_layer {
    static_assert(!is_served<decltype(R::over)>, "a reducer has no server: .over is gather_all{} or a collective");

  public:
    using message_type = message_of<decltype(R::compressor), T, B>;
    using feedback_type = decltype(std::declval<R const&>().template feedback<T, B>(std::size_t{}));

    /// Throws argument_error where the reduction does not suit so many numbers, theory_error where it has no theorem.
    [[gnu::cold]] reduced_layer(R how, layer is, reducer_options const& options)
        : named_layer(std::move(is)),
          how_(std::move(how)),
          in_full_(is_in_full(is_, options)),
          weights_differ_(options.steps_vary || options.not_started == absent::zero),
          memory_(in_full_ ? feedback_type{} : checked_feedback(), in_full_ ? 0 : is_.size),
          means_(how_.over, is_.size, options.positions),
          full_means_({}, is_.size, options.positions),
          positions_(options.positions),
          delta_(is_.size),
          mean_(is_.size) {
        check_dimension(is_.size);
        if constexpr (MayServe<decltype(R::over)>)
            if (how_.over.server()) throw argument_error(concat({"a reducer has no server: ", to_string(how_.over)}));
        if (in_full_) return;
        how_.check_proof(is_.size);
        means_.require_beside(feedback(), to_string(how_));
    }

    /// To be called on all ranks before the first step over them.
    template <Communicator C>
    void start(C& comm) {
        if (!in_full_) means_.start(comm);
    }
    std::size_t bytes_in_full() const { return x_.held().is_there() ? x_.held().size_bytes() : is_.size * sizeof(T); }
    /// The items of this layer on which ranks must agree, in one line.
    std::string described() const { return concat({is_.size, " numbers, ", (in_full_ ? "in full" : to_string(how_))}); }
    R const& reduction() const { return how_; }
    feedback_type const& feedback() const { return memory_.feedback(); }
    message_type const& message() const { return message_; }  // the last that was not in full
    layer_memory<feedback_type, T, B> const& memory() const { return memory_; }

    layer_vector<T>& vector() { return x_; }
    /// Makes this rank's message about its numbers, times `share`, or its error frame; of one that is not started the
    /// numbers count as zeros. `in_full`: all numbers are sent.
    template <Communicator C>
    void make_message(B& on, C const& comm, std::uint64_t round, double share, step_options const& options,
                      bool in_full) {
        begin(in_full, options);
        or_frame([&] {
            x_.require(is_.size);
            memory_.check_share(share);
            check<T>(options);
            bool const reads = x_.is_started() && share != 0;
            scale_ = reads ? static_cast<T>(share / options.loss_scale) : T(0);
            std::span<T> const room(mean_);
            if (!reads) fill(on, room, T(0));
            make_from(on, comm, round, reads ? x_.held().as_numbers(room) : room, static_cast<T>(reads ? share : 0));
        });
    }
    /// Makes an error frame in place of a message, with this reason.
    void make_no_message(std::string const& why, bool in_full) {
        begin(in_full, options_);
        frame_.because(why);
    }
    /// Sends no message: this layer stays as it is, on all ranks.
    void skip(bool in_full) {
        begin(in_full, {});
        frame_.left_out(was_not_started());
        skipped_ = true;
    }

    /// Starts to send the message.
    template <Communicator C>
    void send(B& on, C& comm, std::uint64_t round, int lane) {
        with_message([&](auto& by, auto const& m) { by.send(on, comm, now(comm, round), m, frame_, lane); });
    }
    /// Whether nothing else may be in flight from send() to receive().
    template <Communicator C>
    bool travels_alone(C& comm) const {
        return goes_in_full_ ? full_means_.travels_alone(comm) : means_.travels_alone(comm);
    }
    bool uses_collective() const { return !in_full_ && means_.uses_collective(); }
    /// Waits for all ranks' messages and computes their mean. Throws what the transport throws, the same on all ranks.
    template <Communicator C>
    void receive(B& on, C& comm, std::uint64_t round, int lane) {
        if (skipped_) {
            finish_all_gather(comm, lane);
            without_tags frames(comm, now(comm, round));
            frames.require_one();
            return error_frame::raise_unless_left_out(frames, round);
        }
        std::span<T> const mean(mean_);
        if (goes_in_full_)
            full_means_.receive(on, comm, now(comm, round), full_message_, frame_, full_blank(), nullptr, mean, lane);
        else
            means_.receive(on, comm, now(comm, round), message_, frame_, blank(comm, round), feedback(), mean, lane);
    }
    /// For a message that layers share: frame() and write() are this layer's part; read_and_add() reads a rank's part
    /// from `source`, in the order of ranks. Throws wire_error.
    error_frame const& frame() const { return frame_; }
    void write(B& on, bit_writer& sink) {
        with_message([&](auto& by, auto const& m) { by.write(sink, on, m); });
    }
    template <Communicator C>
    void read_and_add(B& on, C const& comm, std::uint64_t round, int rank, bit_reader& source) {
        std::span<T> const mean(mean_);
        if (rank == 0) fill(on, mean, T(0));
        T const share = T(1) / static_cast<T>(comm.size());
        auto const of_rank = [&](auto blank) { return [rank, blank](auto& there, auto& m) { blank(there, rank, m); }; };
        if (goes_in_full_)
            full_means_.read_and_add(source, on, of_rank(full_blank()), share, mean);
        else
            means_.read_and_add(source, on, of_rank(blank(comm, round)), share, mean);
    }

    /// The options of this step, and a digest of what must be the same on all ranks in it: 0 where the frame is set.
    step_options const& options() const { return options_; }
    T largest() const { return x_.held().largest(); }
    std::uint64_t alike() const {
        return has_made_ && !frame_.is_set() ? fingerprint({step_digest(options_, x_.held().largest()), seed_.bits}) | 1
                                             : 0;
    }
    /// Gathers the mean in full, for a probe of this step.
    template <Communicator C>
    void gather_exact(B& on, C& comm, std::uint64_t round) {
        if (skipped_) return;
        if (!exact_) exact_.emplace(is_.size);
        exact_->gather(on, comm, round, scale_, x_.held());
    }
    /// After commit(): adds the deviation of the estimate from it to `far`.
    void compare_exact(B& on, deviation& apart) {
        if (!skipped_) exact_->compare(on, std::span<T const>(mean_), apart);
    }
    /// Before commit(): a digest of what must be the same on all ranks.
    std::uint64_t digest_of_estimate(B& on) const { return memory_.digest_with(on, std::span<T const>(mean_)); }
    /// Before commit(): the first number of the estimate that write_back() could not write as a finite one; size()
    /// where there is none. The same on all ranks whose vectors have one type of number and one loss scale.
    template <Communicator C>
    std::size_t first_not_writable(B& on, C const& comm, std::uint64_t round) {
        if (skipped_) return is_.size;
        return writable_.first_beyond(on, how_, now(comm, round), comm.size(), memory_.feedback(), mean_, goes_in_full_,
                                      static_cast<T>(options_.loss_scale), x_.held().largest());
    }
    /// Completes the step: updates the state, and computes the estimate.
    template <Communicator C>
    void commit(B& on, C const& comm, std::uint64_t round) {
        if (skipped_) return;
        auto& feedback = memory_.feedback();
        if (goes_in_full_) {
            feedback.update(on, std::move(delta_), full_message_);
        } else {
            feedback.update(on, std::move(delta_), message_);
            means_.give_back(on, feedback);
        }
        std::span<T> const mean(mean_);
        with_message([&](auto& by, auto const&) { by.reconstruct(on, comm, now(comm, round), feedback, mean); });
        if constexpr (FinishesEstimate<R, message_type, T, B>)
            if (!goes_in_full_) how_.finish_estimate(on, comm.size(), mean, message_);
        memory_.set_step_size(options_.step_size);
    }
    bool is_skipped() const { return skipped_; }
    /// Sets the caller's numbers to the estimate, on every rank, unless the layer was skipped; or to NaN.
    void write_back(B& on) {
        if (skipped_) return;
        std::span<T> const mean(mean_);
        if (options_.loss_scale != 1) multiply(on, static_cast<T>(options_.loss_scale), mean);
        x_.held().assign(on, std::span<T const>(mean));
    }
    void write_nan(B& on) {
        if (auto const& x = x_.held(); x.is_there() && x.size() == is_.size) x.assign_nan(on, std::span<T>(mean_));
    }
    void end_step() { x_.end_step(), has_made_ = false; }
    void add_state(B& on) { memory_.add_state(on); }
    void take_mean_state(B& on, int ranks) { memory_.take_mean_state(on, ranks), forget_ranks(); }
    /// What a collective remembers is of the ranks that it had: it starts anew.
    void forget_ranks() { means_ = {how_.over, is_.size, positions_}; }
    /// Sets mean h to the mean of these ranks' h. A collective call.
    template <Communicator C>
    void renew_mean_shift(B& on, C& comm, std::uint64_t round) {
        memory_.renew_mean_shift(on, comm, round, std::span<T>(mean_));
    }
    void wait() const { means_.wait(); }
    void require_whole() const { means_.require_whole(); }
    void make_whole() { means_.make_whole(); }
    template <class Archive>
    void state(Archive& archive) {
        archive.of_dimension(is_.size), memory_.state(archive), means_.state(archive);
    }

  private:
    feedback_type checked_feedback() const {
        check_by_name(how_.compressor, is_.size);  // without which its theory means nothing
        return how_.template feedback<T, B>(is_.size);
    }
    // Calls use(transport, message) with those of this step.
    void with_message(auto use) { goes_in_full_ ? use(full_means_, full_message_) : use(means_, message_); }
    template <Communicator C>
    round_context now(C const& comm, std::uint64_t round) const {
        return round_context::of(seed_, round, comm.rank(), comm.size()).with_tag(message_tag(round, alike()));
    }
    template <Communicator C>
    auto blank(C const& comm, std::uint64_t round) const {
        return [this, round, ranks = comm.size()](auto& there, int rank, auto& m) {
            compressor_at(round).blank(there, is_.size, round_context::of(seed_, round, rank, ranks).own, m);
            weigh(there, T(0), m);
        };
    }
    // Makes a message of a reduction that has one count by its weight, if ranks may differ in it.
    template <class On, class M>
    void weigh([[maybe_unused]] On& on, [[maybe_unused]] T weight, [[maybe_unused]] M& m) const {
        if constexpr (WeighsMessages<R, M, T, On>)
            if (weights_differ_) how_.weigh(on, weight, m);
    }
    blank_in_full full_blank() const { return {is_.size}; }
    template <Communicator C>
    void make_from(B& on, C const& comm, std::uint64_t round, std::span<T const> x, T weight) {
        auto const at = now(comm, round);
        std::span<T> const delta(delta_);
        if (!memory_.make_delta(on, at, scale_, x, options_.step_size, delta))
            return frame_.not_finite(first_non_finite(on, std::span<T const>(delta)));
        if (goes_in_full_) return identity{}(on, std::span<T const>(delta), at.own, full_message_);
        compressor_at(round)(on, std::span<T const>(delta), at.own, message_);
        weigh(on, weight, message_);
    }
    decltype(auto) compressor_at([[maybe_unused]] std::uint64_t round) const {
        if constexpr (FollowsSteps<R>)
            return how_.compressor_at(round);
        else
            return (how_.compressor);
    }
    template <class Make>
    void or_frame(Make make) {
        try {
            make();
        } catch (std::exception const& e) {
            frame_.because(with_title(e.what()));
        }
    }
    void begin(bool in_full, step_options const& options) {
        options_ = options;
        frame_.clear();
        goes_in_full_ = in_full || in_full_;
        skipped_ = false, has_made_ = true;
    }

    R how_;
    bool in_full_, weights_differ_;
    layer_memory<feedback_type, T, B> memory_;
    transport_for<decltype(R::over), message_type, T, B> means_;
    gathered<full_vector<T, B>, T, B> full_means_;
    position_code positions_;
    typename B::template array<T> delta_, mean_;
    message_type message_;
    full_vector<T, B> full_message_;
    std::optional<exact_mean<T, B>> exact_;
    writable_estimate<R, T, B> writable_;
    // The state of the current step.
    layer_vector<T> x_;
    step_options options_;
    T scale_ = 1;                                                     // of x_; 0 where its numbers are not read
    bool goes_in_full_ = false, skipped_ = false, has_made_ = false;  // a message or a frame
    error_frame frame_;  // outlives send(), as an engine may send its bytes later
};

}  // namespace laconic::detail
