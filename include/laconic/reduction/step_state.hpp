// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/reduction/caller_vector.hpp"
#include "laconic/reduction/options.hpp"
#include "laconic/transport/transport.hpp"

namespace laconic::detail {

/// Adds the seconds of its lifetime to a sum.
class timed {
  public:
    explicit timed(double& seconds) : seconds_(&seconds) {}
    timed(timed const&) = delete;
    timed& operator=(timed const&) = delete;
    ~timed() { now(*seconds_); }
    /// Those that follow are added to this sum.
    void now(double& seconds) {
        auto const until = std::chrono::steady_clock::now();
        *std::exchange(seconds_, &seconds) +=
            std::chrono::duration<double>(until - std::exchange(from_, until)).count();
    }

  private:
    double* seconds_;
    std::chrono::steady_clock::time_point from_ = std::chrono::steady_clock::now();
};

/// What forbids these options of a layer beside those of another in the same step; null where nothing does.
inline char const* trouble_between(step_options const& first, step_options const& other, reducer_options const& all) {
    bool const same_weight = other.weight == first.weight || (std::isnan(other.weight) && std::isnan(first.weight));
    if (!same_weight || (all.steps_vary && other.dense != first.dense))
        return "the layers of one step have different weights, or are not all dense";
    if (all.missing_layer == on_missing_layer::zero &&
        (other.loss_scale != first.loss_scale || other.step_size != first.step_size))
        return "the layers of one step have different loss scales or step sizes, where on_missing_layer::zero gives a "
               "layer that is not started those of the step";
    return nullptr;
}

/// The state of a step of a reducer, on one rank: how far it is, and why it has failed.
class step_state {
  public:
    /// Calls what(), and keeps what it throws. All ranks get this library's errors at the same message, so that the
    /// step ends there; except wire_error, after which, as after an exception of another type such as std::bad_alloc,
    /// this rank goes on and sends the others its error in place of its other messages.
    void attempt(auto what) {
        try {
            what();
        } catch (...) {
            keep();
        }
    }
    /// The exception that finish() throws, if there is one.
    std::exception_ptr failed() const { return failed_; }
    /// Throws argument_error where a step is under way.
    void require_no_step(char const* call) const {
        if (now_.is_open) throw argument_error({"a step is under way: finish() or drop() comes before ", call});
    }
    /// Throws argument_error for options of finish() other than those of the layers that were started.
    void require_given(step_options const& options) const {
        if (now_.is_open && options != step_options{} && options != now_.given)
            throw argument_error("finish() has other options than the layers that were started: give it none");
    }

  protected:
    /// Where the ranks are not alike: what() throws, the same on all of them, what differs, which becomes the error of
    /// the step. Nothing may be in flight.
    void if_they_differ(auto what) {
        if (!std::exchange(differ_, false)) return;
        failed_ = nullptr;
        attempt(what);
    }
    void clear() {
        failed_ = nullptr;
        differ_ = ended_ = false;
        own_error_ = {};
        now_ = {};
    }

    struct counts {
        bool is_open = false, is_dense = false;
        bool travels_alone = false;          // the message that was sent last
        step_options given{};                // of the first layer that is started
        double share = 1;                    // of this rank's gradient: its weight relative to the mean weight
        std::size_t made = 0;                // layers that are ready of the message that is sent next
        std::size_t sent = 0, received = 0;  // messages
    };
    counts now_;
    broken_round broken_;
    std::exception_ptr failed_;
    bool differ_ = false;  // all ranks have seen that they are not alike in this step
    bool ended_ = false;   // all ranks have the error: no more messages are sent
    failure own_error_;    // this rank's, sent in place of its messages

  private:
    [[gnu::cold, gnu::noinline]] void keep() {
        auto const thrown = std::current_exception();
        auto const keep_own = [&] {
            if (!own_error_) own_error_ = failure::of(thrown, no_rank);
        };
        if (!failed_) failed_ = thrown;
        try {
            throw;
        } catch (wire_error const&) {
            keep_own();
        } catch (tags_differ const&) {
            differ_ = ended_ = true;
            failed_ = thrown;
        } catch (error const&) {
            ended_ = true;
        } catch (...) {  // the other ranks may go on with the step
            broken_.rank_moves();
            keep_own();
        }
    }
};

/// Abandons a step at the end of its own life.
template <class Step>
struct ending {
    Step* step;
    ~ending() { step->abandon(); }
};

// What the ranks compare beside their messages.

/// What must be the same on all ranks where rank `root` broadcasts x.
[[gnu::cold, gnu::noinline]] inline agreed_items items_of_broadcast(caller_vector const& x, int root) {
    return {{"the vector", concat({x.size(), " numbers up to ", x.largest()})}, {"the root", root}};
}

inline constexpr char const* weight_needs_steps_vary =
    "a weight other than 1, or .dense, which reducer_options::steps_vary must allow";

[[gnu::cold, gnu::noinline]] inline std::string impossible_weight(double weight) {
    return concat({"a weight of ", weight, ", which must be finite and at least 0"});
}

/// The factor of a gradient of this weight, where the weights of so many ranks add up to `sum`: exactly 1 where all are
/// equal.
inline double share_of(double weight, double sum, int ranks) {
    double const product = weight * ranks;
    return std::isfinite(product) ? product / sum : weight / sum * ranks;
}

/// How a rank begins a step: with the options that all ranks must begin with, with others, as of a layer that is not
/// the first in the order, or of none where there is an error, or to drop it.
enum class begins { with_options, with_others, to_drop };

/// Compares, before the first message of a step, each rank's tag, its weight, and whether it sends all in full or drops
/// the step; among ranks that begin with the options of all also the step sizes and loss scales. Returns the factor of
/// this rank's gradient, its weight by the mean weight. Throws on all ranks tags_differ where the steps or their
/// options differ, and why there can be no step. 16 bytes from each rank.
[[gnu::cold, gnu::noinline]] double agree_on_step(Communicator auto& comm, std::uint64_t round,
                                                  step_options const& options, begins how = begins::with_options) {
    double const weight = options.weight;
    auto const tag = message_tag(round, how == begins::with_options ? step_digest(options) : 0);
    struct sent_step {
        double weight;
        std::byte how, none[3];
        std::byte tag[tag_length];
    };
    constexpr std::byte dense{1}, dropped{2};
    sent_step mine{weight, how == begins::to_drop ? dropped : std::byte{options.dense}, {}, {}};
    for (std::size_t i = 0; i < tag_length; ++i) mine.tag[i] = static_cast<std::byte>(tag >> 8 * i & 0xffu);
    comm.all_gather({std::as_bytes(std::span(&mine, 1))});
    without_tags const tags(comm, round_context{}.with_tag(tag));
    tags.require_one();
    failure first_wrong;
    double sum = 0;
    bool first_is_dense = false;
    auto const keep_first = [&](int r, failure wrong) {
        if (first_wrong) return;
        first_wrong = std::move(wrong).by(r, round);
        first_wrong.other = 0;
    };
    auto const refuse = [&](int r, std::string why) { keep_first(r, failure::no_message(std::move(why))); };
    for (int r = 0; r < comm.size(); ++r) {
        auto const theirs = value_from<sent_step>(comm, r, "its weight");
        bool const is_dense = theirs.how == dense;
        if (r == 0) first_is_dense = is_dense;
        if (theirs.how == dropped) refuse(r, "the step was dropped there");
        if (!(theirs.weight >= 0 && std::isfinite(theirs.weight))) refuse(r, impossible_weight(theirs.weight));
        if (is_dense != first_is_dense)
            keep_first(
                r, {.kind = failure_kind::agreement,
                    .why = concat({"rank ", failure::its_rank, ": step ", round, " is ", (first_is_dense ? "not " : ""),
                                   "dense, unlike on rank ", failure::other_rank})});
        sum += theirs.weight;
    }
    tags.require_readable();
    if (!(sum > 0 && std::isfinite(sum))) refuse(0, concat({"the ranks' weights add up to ", sum}));
    first_wrong.raise();
    return share_of(weight, sum, comm.size());
}

/// To be called where tags differ: throws agreement_error, which names two ranks and what each has, on all ranks. Those
/// that are here already send theirs again and again until all others, whose messages may be in flight, have ended the
/// step. `first`: the options of this rank's first layer in the step; `sent`: the number of its
/// messages in it, of which `at_once` may be in flight.
[[noreturn, gnu::cold, gnu::noinline]] void name_difference(Communicator auto& comm, auto const& layers,
                                                            std::uint64_t round, step_options const& first,
                                                            std::size_t sent, std::size_t at_once) {
    auto const mine = layers.items_of_step(round, first);
    tagged_texts texts(comm, round, tagged::differences);
    bool all = false;
    for (std::size_t n = 0; !all && n < 2 * most_in_flight; ++n) {
        texts.gather_all_kinds({std::as_bytes(std::span(mine.lines()))}, static_cast<int>((sent + n) % at_once));
        all = texts.are_all(tagged::differences);
    }
    auto const text_of = [&](int r) { return text_of_bytes(texts.from(r).bytes); };
    for (int r = 1; all && r < comm.size(); ++r)
        if (text_of(r) != text_of(0)) disagreement_of(text_of(0), text_of(r), r).raise();
    throw agreement_error(-1, {"ranks disagree on step ", round,
                               " or its options: one of them restored its state or called reorder() alone, "
                               "or a message was damaged"});
}

/// The largest of the ranks' rounds, and the first rank that has it. 8 bytes from each rank.
std::pair<std::uint64_t, int> latest_round(Communicator auto& comm, std::uint64_t mine) {
    std::pair<std::uint64_t, int> latest{};
    from_all(comm, mine, "its step", [&](int rank, std::uint64_t theirs) {
        if (theirs > latest.first) latest = {theirs, rank};
    });
    return latest;
}

/// Compares the ranks' steps so far, estimates and mean shifts. Throws agreement_error on all ranks where the first
/// differ, with both numbers; comm_error where an estimate or mean shift differs from that of rank 0, with the first
/// such rank and its first such layer. 8 bytes from each rank, and 8 a layer.
[[gnu::cold, gnu::noinline]] void verify_estimates(Communicator auto& comm, auto const& layers, std::uint64_t round) {
    std::vector<std::uint64_t> mine{round};
    for (std::size_t l = 0; l < layers.size(); ++l) mine.push_back(layers[l].digest_of_estimate());
    comm.all_gather({std::as_bytes(std::span(mine))});
    auto const words_of = [&](int r) { return bytes_from(comm, r, 8 * mine.size(), "a digest of each layer"); };
    for (int r = 0; r < comm.size(); ++r) words_of(r);  // a wrong length comes before a difference
    auto const word = [&](int r, std::size_t i) {
        std::uint64_t value = 0;
        std::memcpy(&value, words_of(r).data() + 8 * i, 8);
        return value;
    };
    for (int r = 1; r < comm.size(); ++r)
        if (auto const first = word(0, 0), other = word(r, 0); first != other)
            disagreement_of(layers.progress(first).lines(), layers.progress(other).lines(), r).raise();
    for (int r = 1; r < comm.size(); ++r)
        for (std::size_t l = 0; l < layers.size(); ++l)
            if (word(0, 1 + l) != word(r, 1 + l)) {
                auto wrong =
                    failure::lost(r, concat({"has another estimate or mean shift than rank ", failure::other_rank, ": ",
                                             layers[l].title(), " in step ", round}));
                wrong.other = 0;
                wrong.raise();
            }
}

}  // namespace laconic::detail
