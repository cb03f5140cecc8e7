// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include "laconic/reduction/options.hpp"
#include "laconic/transport/broken_round.hpp"
#include "laconic/wire/failure.hpp"

namespace laconic::detail {

/// The state of a step of a reducer, on one rank: how far it is, and why it has failed.
class step_state {
  public:
    /// Calls what(), and keeps what it throws. All ranks get this library's errors at the same message, so that the
    /// step ends there; except wire_error, after which, as after an exception of another type such as std::bad_alloc,
    /// this rank goes on and sends the others its error in place of its other messages.
    template <class Do>
    void attempt(Do what) {
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
        if (now_.is_open) throw argument_error(concat({"a step is under way: finish() or drop() comes before ", call}));
    }
    /// Throws argument_error for options of finish() other than those of the layers that were started.
    void require_given(step_options const& options) const {
        if (now_.is_open && options != step_options{} && options != now_.given)
            throw argument_error("finish() has other options than the layers that were started: give it none");
    }

  protected:
    /// Where the ranks are not alike: what() throws, the same on all of them, what differs, which becomes the error of
    /// the step. Nothing may be in flight.
    template <class Do>
    void if_they_differ(Do what) {
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

}  // namespace laconic::detail
