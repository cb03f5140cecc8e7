// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <optional>
#include <string>

#include "laconic/core/error.hpp"
#include "laconic/transport/broken_round.hpp"

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
    void clear() {
        failed_ = nullptr;
        mistake_.reset();
        ended_ = false;
    }

    broken_round broken_;
    std::exception_ptr failed_;           // the exception that finish() throws
    bool ended_ = false;                  // all ranks have the error: no more messages are sent
    std::optional<std::string> mistake_;  // this rank's error, sent in place of its messages

  private:
    [[gnu::cold, gnu::noinline]] void keep() {
        try {
            throw;
        } catch (wire_error const&) {
            fails_alone();
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
        if (!mistake_) mistake_ = "the step failed there";
    }
};

}  // namespace laconic::detail
