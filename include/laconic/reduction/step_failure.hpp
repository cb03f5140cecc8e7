// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <optional>
#include <string>

#include "laconic/core/error.hpp"
#include "laconic/transport/broken_round.hpp"

namespace laconic::detail {

/// What is wrong with a step of a reducer, on one rank.
class step_failure {
  public:
    /// Does this, and keeps what it throws. All ranks know of this library's errors at the same message, but for
    /// wire_error: then, as where there is no memory, the messages that this rank has still to send must say so.
    template <class Do>
    void attempt(Do what) {
        try {
            what();
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

  protected:
    void clear() {
        failed_ = nullptr;
        mistake_.reset();
        ended_ = false;
    }

    broken_round broken_;
    std::exception_ptr failed_;           // what finish() throws
    bool ended_ = false;                  // all ranks know of it: no message more is sent
    std::optional<std::string> mistake_;  // this rank's, which the others get in place of a message

  private:
    void fails_alone() {
        if (!failed_) failed_ = std::current_exception();
        if (!mistake_) mistake_ = "the step failed there";
    }
};

}  // namespace laconic::detail
