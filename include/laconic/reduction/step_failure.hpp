// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <utility>

#include "laconic/core/error.hpp"
#include "laconic/transport/broken_round.hpp"
#include "laconic/transport/message_tag.hpp"
#include "laconic/wire/failure.hpp"

namespace laconic::detail {

/// The errors of a step of a reducer, on one rank.
class step_failure {
  public:
    /// Calls what(), and keeps what it throws. All ranks get this library's errors at the same message, so that the
    /// step ends there; except wire_error, after which, as after an exception of another type such as std::bad_alloc,
    /// this rank goes on and sends error frames for its other messages.
    template <class Do>
    void attempt(Do what) {
        try {
            what();
        } catch (...) {
            keep();
        }
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
        differ_ = false;
        mistake_ = {};
        ended_ = false;
    }

    broken_round broken_;
    std::exception_ptr failed_;  // the exception that finish() throws
    bool differ_ = false;        // all ranks have seen that they are not alike in this step
    bool ended_ = false;         // all ranks have the error: no more messages are sent
    failure mistake_;            // this rank's, sent in place of its messages

  private:
    [[gnu::cold, gnu::noinline]] void keep() {
        try {
            throw;
        } catch (wire_error const&) {
            fails_alone();
        } catch (tags_differ const&) {
            differ_ = ended_ = true;
            failed_ = std::current_exception();
        } catch (error const&) {
            if (!failed_) failed_ = std::current_exception();
            ended_ = true;
        } catch (...) {  // the other ranks may go on with the step
            broken_.rank_moves();
            fails_alone();
        }
    }
    void fails_alone() {
        if (!failed_) failed_ = std::current_exception();
        if (!mistake_) mistake_ = failure::no_message("the step failed there");
    }
};

}  // namespace laconic::detail
