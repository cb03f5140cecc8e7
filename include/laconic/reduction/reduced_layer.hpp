// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "laconic/backend/array.hpp"
#include "laconic/comm/communicator.hpp"
#include "laconic/compress/full.hpp"
#include "laconic/core/occasion.hpp"
#include "laconic/exchange/agreement.hpp"
#include "laconic/exchange/error_frame.hpp"
#include "laconic/exchange/mean_of_messages.hpp"
#include "laconic/reduction/options.hpp"
#include "laconic/reduction/reduction.hpp"

namespace laconic::detail {

/// One layer of a reducer, on one rank: what it remembers, and the step that it is in. Until commit() a step changes
/// nothing that is remembered. Memory, beside the feedback's: 2 d numbers, and the messages'.
template <class R, Scalar T, class B>
class reduced_layer {
  public:
    using message_type = message_of<decltype(R::compressor), T, B>;
    using feedback_type = decltype(std::declval<R const&>().template feedback<T, B>(std::size_t{}));

    /// Throws argument_error where the reduction does not suit so many numbers, or has no theorem.
    reduced_layer(R const& how, layer is, reducer_options const& options)
        : is_(std::move(is)),
          in_full_(is_in_full(is_, options)),
          compressor_(how.compressor),
          seed_{options.seed},
          feedback_(in_full_ ? feedback_type{} : how.template feedback<T, B>(is_.size)),
          means_(how.over, is_.size, options.positions),
          full_means_({}, is_.size, options.positions),
          news_(is_.size),
          mean_(is_.size) {
        check_dimension(is_.size);
        // By the name, not the place: layers may be listed in another order on another day.
        if (!is_.name.empty()) seed_ = seed_.child(fingerprint(std::as_bytes(std::span(is_.name))));
        if (in_full_) return;
        compressor_.check(is_.size);
        how.check_proof(is_.size);
        means_.require_beside(false, feedback_, to_string(feedback_));
        feedback_.start(is_.size);
    }

    std::string const& name() const { return is_.name; }
    std::string title() const { return is_.name.empty() ? "the vector" : "layer " + is_.name; }
    std::size_t size() const { return is_.size; }
    /// What ranks must agree on, in one line.
    std::string described() const {
        return std::to_string(is_.size) + " numbers, " + (in_full_ ? "in full" : to_string(feedback_));
    }
    feedback_type const& feedback() const { return feedback_; }

    /// The caller's numbers in this step, which must stay until end_step().
    void hold(std::span<T> x) { x_ = x; }
    /// Makes this rank's message about x; or its error frame, where one cannot be made. `in_full`: all numbers are sent
    /// this time.
    template <Communicator C>
    void make_message(B& on, C const& comm, std::uint64_t round, std::span<T const> x, step_options const& options,
                      bool in_full) {
        begin(in_full);
        options_ = options;
        try {
            if (x.size() != is_.size)
                throw shape_error("a vector of " + std::to_string(x.size()) + " numbers, where the reducer has " +
                                  std::to_string(is_.size));
            if (!(options.loss_scale > 0 && std::isfinite(options.loss_scale)))
                throw argument_error("a loss scale of " + shortest(options.loss_scale) + ", which must be above 0");
            if (!(options.step_size >= 0 && std::isfinite(options.step_size)))
                throw argument_error("a step size of " + shortest(options.step_size) + ", which must be above 0");
            double const waited = options.step_size > 0 && step_size_ > 0 ? step_size_ / options.step_size : 1;
            std::span<T> const news(news_);
            if (!feedback_.make_delta(on, static_cast<T>(1 / options.loss_scale), x, static_cast<T>(waited), news))
                return frame_.not_finite(first_non_finite(on, std::span<T const>(news)));
            auto const key = occasion::of(seed_, round, comm.rank(), comm.size()).own;
            if (goes_in_full_)
                full{}(on, std::span<T const>(news), key, full_message_);
            else
                compressor_(on, std::span<T const>(news), key, message_);
        } catch (std::exception const& e) {
            frame_.because((is_.name.empty() ? "" : title() + ": ") + e.what());
        }
    }
    /// The same with zeros, for a layer that the caller has no numbers of.
    template <Communicator C>
    void make_message_of_zeros(B& on, C const& comm, std::uint64_t round, bool in_full) {
        fill(on, std::span<T>(mean_), T(0));
        make_message(on, comm, round, std::span<T const>(mean_), {}, in_full);
    }
    /// In place of a message: why there is none.
    void make_no_message(std::string const& why, bool in_full) {
        begin(in_full);
        frame_.because(why);
    }
    std::string was_not_started() const { return title() + " was not started"; }
    /// In place of a message: this layer stays as it is, on all ranks.
    void skip(bool in_full) {
        make_no_message(was_not_started(), in_full);
        skipped_ = true;
    }

    /// The message starts on its way.
    template <Communicator C>
    void send(B& on, C& comm) {
        if (goes_in_full_)
            full_means_.send(on, comm, full_message_, frame_);
        else
            means_.send(on, comm, message_, frame_);
    }
    /// Waits for all ranks' messages and takes their mean. Throws what mean_of_messages does, the same on all ranks.
    template <Communicator C>
    void receive(B& on, C& comm, std::uint64_t round) {
        if (skipped_) return receive_nothing(comm, round);
        auto const blank = [&](auto& there, int rank, auto& m) {
            compressor_.blank(there, is_.size, occasion::of(seed_, round, rank, comm.size()).own, m);
        };
        auto const full_blank = [&](auto& there, int, auto& m) { full{}.blank(there, is_.size, {}, m); };
        std::span<T> const mean(mean_);
        if (goes_in_full_)
            full_means_.receive(on, comm, full_message_, frame_, round, full_blank, mean);
        else
            means_.receive(on, comm, message_, frame_, round, blank, mean);
    }
    /// What is remembered moves on.
    template <Communicator C>
    void commit(B& on, C const& comm, std::uint64_t round) {
        if (skipped_) return;
        if (goes_in_full_) {
            feedback_.after(on, std::move(news_), full_message_);
        } else {
            feedback_.after(on, std::move(news_), message_);
            means_.give_back(on, feedback_);
        }
        feedback_.estimate(on, occasion::of(seed_, round, comm.rank(), comm.size()), std::span<T>(mean_));
        if (options_.step_size > 0) step_size_ = options_.step_size;
    }
    /// The caller's numbers, where there are some, become the estimate, or NaN.
    void write_back(B& on) {
        if (x_.empty()) return;
        std::span<T> const mean(mean_);
        if (options_.loss_scale != 1) multiply(on, static_cast<T>(options_.loss_scale), mean);
        copy(on, std::span<T const>(mean), x_);
    }
    void write_nan(B& on) { fill(on, x_, std::numeric_limits<T>::quiet_NaN()); }
    void end_step() { x_ = {}; }

    void require_whole() const { means_.require_whole(); }
    void make_whole() { means_.make_whole(); }
    template <class Archive>
    void state(Archive& archive) {
        archive.of_dimension(is_.size);
        archive(step_size_, feedback_);
        means_.state(archive);
    }

  private:
    void begin(bool in_full) {
        frame_.clear();
        goes_in_full_ = in_full || in_full_;
        skipped_ = false;
    }
    // Throws the first rank's frame, in their order, unless all ranks have skipped this layer.
    template <Communicator C>
    void receive_nothing(C& comm, std::uint64_t round) const {
        if constexpr (Overlapping<C>) comm.finish();
        auto const mine = frame_.bytes();
        bool same = true;
        for (int r = 0; r < comm.size(); ++r) {
            auto const theirs = comm.from(r);
            same = same && theirs.complaint &&
                   std::equal(theirs.bytes.begin(), theirs.bytes.end(), mine.begin(), mine.end());
        }
        for (int r = 0; r < comm.size() && !same; ++r)
            if (auto const theirs = comm.from(r); theirs.complaint) error_frame::raise(r, round, theirs.bytes);
    }

    layer is_;
    bool in_full_;
    decltype(R::compressor) compressor_;
    key seed_;
    feedback_type feedback_;
    mean_of_messages<decltype(R::over), message_type, T, B> means_;
    mean_of_messages<gather_all, full_vector<T, B>, T, B> full_means_;
    typename B::template array<T> news_, mean_;
    message_type message_;
    full_vector<T, B> full_message_;
    double step_size_ = 0;  // of the last step that gave one
    // Of the step that this is in.
    std::span<T> x_;
    step_options options_;
    bool goes_in_full_ = false, skipped_ = false;
    error_frame frame_;  // outlives send(): an engine may hand over its bytes later
};

}  // namespace laconic::detail
