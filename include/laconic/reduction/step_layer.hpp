// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "laconic/core/round_context.hpp"
#include "laconic/reduction/exact_mean.hpp"

namespace laconic::detail {

/// One layer of a step as what controls the step sees it, whatever its reduction, its numbers and its backend are.
/// Until commit() a step does not change the layer's state.
class step_layer {
  public:
    step_layer(layer is, reducer_options const& options, std::size_t bytes_each)
        : is_(std::move(is)),
          in_full_(is_in_full(is_, options)),
          correlated_(options.correlated),
          bytes_each_(bytes_each) {}

    std::string const& name() const { return is_.name; }
    std::size_t size() const { return is_.size; }
    bool in_full() const { return in_full_; }  // always
    std::string title() const { return title_of(is_); }
    [[gnu::cold, gnu::noinline]] std::string was_not_started() const { return concat({title(), " was not started"}); }
    /// Sets the key from which all layers of the reducer draw, before the first step.
    void draw_from(key seed) {
        // By the name, not the index: a later run may list the layers in another order.
        seed_ = is_.name.empty() ? seed : seed.child(fingerprint(std::as_bytes(std::span(is_.name))));
    }
    layer_vector& vector() { return x_; }
    void bind(caller_vector x) { x_.bind(x, is_.size); }
    std::size_t bytes_in_full() const { return x_.held().is_there() ? x_.held().size_bytes() : is_.size * bytes_each_; }
    /// The items of this layer on which ranks must agree, in one line.
    std::string const& described() const { return described_; }
    /// Whether a collective adds up its messages.
    bool uses_collective() const { return uses_collective_; }
    /// Whether its messages are gathered and added up, so that those of several layers may travel as one.
    bool adds_up() const { return adds_up_; }

    /// Makes this rank's message about its numbers, times `share`, or its failure; of one that is not started the
    /// numbers count as zeros. `in_full`: all numbers are sent.
    virtual void make_message(std::uint64_t round, double share, step_options const& options, bool in_full) = 0;
    /// Sends this failure in place of a message; with one that is left_out the layer stays as it is, where all ranks
    /// leave theirs out.
    [[gnu::cold, gnu::noinline]] void fail(failure own, bool in_full) {
        bool const skips = own.kind == failure_kind::left_out;
        begin(in_full, skips ? step_options{} : options_);
        skipped_ = skips;
        own_ = std::move(own);
    }
    bool is_skipped() const { return skipped_; }
    /// Whether this rank's numbers are all zeros in this step. With reducer_options::skip_zero_layers alone.
    bool is_zero() const { return is_zero_; }
    /// Takes what rank r says of its numbers, in the order of ranks: where they are zeros on all the layer is skipped.
    void skip_if_zero(int rank, bool zeros) { skipped_ = zeros && (rank == 0 || skipped_); }
    failure const& own_failure() const { return own_; }
    /// The options of this step, and a digest of what must be the same on all ranks in it: 0 where it has failed.
    step_options const& options() const { return options_; }
    std::uint64_t alike() const {
        return has_made_ && !own_ ? fingerprint({step_digest(options_, x_.held().largest()), seed_.bits}) | 1 : 0;
    }

    /// Whether its message is a payload that all ranks gather, which write() makes and read() reads; else send() and
    /// receive() have it.
    virtual bool is_payload() const = 0;
    /// Whether nothing else may be in flight while its message is: the same on all ranks.
    virtual bool travels_alone() = 0;
    virtual void write(wire::bit_writer& sink) = 0;
    /// The most bytes of a payload.
    std::size_t most_bytes() const { return is_.size * (bytes_each_ + 1) + 64; }
    /// Prepares for the messages of all ranks. `watched`: the mean is asked for before commit().
    virtual void expect(bool watched) = 0;
    /// Where the ranks of one process share the addition of the messages that have been gathered, does that, and
    /// returns whether it was done. Throws wire_error.
    virtual bool add_in_parts(std::uint64_t round) = 0;
    /// Reads a rank's part of a payload, in the order of ranks, and adds it to the mean. Throws wire_error.
    virtual void read(std::uint64_t round, int rank, wire::bit_reader& source) = 0;
    /// Starts to send what is no payload.
    virtual void send(std::uint64_t round, int lane) = 0;
    /// Waits for all ranks' messages and computes their mean. Throws what the transport throws, the same on all ranks.
    virtual void receive(std::uint64_t round, int lane) = 0;

    /// Gathers the dense mean, for a probe of this step.
    virtual void gather_exact(std::uint64_t round) = 0;
    /// After commit(): adds the deviation of the estimate from it to `apart`.
    virtual void compare_exact(deviation& apart) = 0;
    /// Before commit(): a digest of what must be the same on all ranks.
    virtual std::uint64_t digest_of_estimate() const = 0;
    /// Before commit(): the first number of the estimate that write_back() could not write as a finite one; size()
    /// where there is none. The same on all ranks whose vectors have one type of number and one loss scale.
    virtual std::size_t first_not_writable(std::uint64_t round) = 0;
    /// Completes the step: updates the state, and computes the estimate.
    virtual void commit(std::uint64_t round) = 0;
    /// Sets the caller's numbers to the estimate, on every rank where there are some; of a layer that is skipped it is
    /// 0. Or to NaN.
    virtual void write_back() = 0;
    virtual void write_nan() = 0;
    void end_step() { x_.end_step(), has_made_ = false; }

    virtual void wait() const = 0;
    virtual void require_consistent() const = 0;
    virtual void recover() = 0;

  protected:
    ~step_layer() = default;
    void begin(bool in_full, step_options const& options) {
        options_ = options;
        own_ = {};
        goes_in_full_ = in_full || in_full_;
        skipped_ = is_zero_ = false, has_made_ = true;
    }
    // Of the message that this rank makes, and of one that it reads.
    key key_of(round_context const& at, int me) const {
        return correlated_ ? correlated(at.own, at.shared, me, at.ranks) : at.own;
    }
    key key_of(std::uint64_t round, int rank, int ranks) const {
        auto const own = round_context::own_of(seed_, round, rank);
        return correlated_ ? correlated(own, round_context::of(seed_, round, rank, ranks).shared) : own;
    }

    layer is_;
    key seed_;  // of this layer
    bool in_full_, correlated_, uses_collective_ = false, adds_up_ = true;
    std::size_t bytes_each_;
    std::string described_;
    // The state of the current step.
    layer_vector x_;
    step_options options_;
    bool goes_in_full_ = false, skipped_ = false, is_zero_ = false, has_made_ = false;  // a message or a failure
    failure own_;  // outlives the message, of which a collective in the background may still learn
};

}  // namespace laconic::detail
