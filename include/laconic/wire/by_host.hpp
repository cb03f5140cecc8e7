// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>
#include <utility>

#include "laconic/backend/host.hpp"
#include "laconic/wire/message.hpp"

namespace laconic::wire {

/// Writes and reads a backend's messages: directly where the host can reach them, else by way of a copy on the host.
/// Its memory is reused.
template <class M, class B>
class by_host {
  public:
    void write_message(auto& sink, B& on, M const& m) {
        if constexpr (OnHost<B>) {
            write(sink, m);
        } else {
            using messages::copy_message;
            copy_message(on, m, host_, copy_);
            write(sink, copy_);
        }
    }

    /// Reads rank r's message into m. blank(on, r, m), and blank(cpu, r, copy) for a message of its kind on the host,
    /// set what the receiver has before it reads, and return the compressor. Throws wire_error as read() does.
    void read_message(auto& source, auto blank, int r, B& on, M& m) {
        if constexpr (OnHost<B>) {
            read(on, source, m, blank(on, r, m));
        } else {
            using messages::copy_message;
            blank(on, r, m);
            read(host_, source, copy_, blank(host_, r, copy_));
            copy_message(host_, std::as_const(copy_), on, m);
        }
    }

  private:
    template <int>
    struct nothing {};
    [[no_unique_address]] std::conditional_t<OnHost<B>, nothing<0>, host> host_;
    [[no_unique_address]] std::conditional_t<OnHost<B>, nothing<1>, messages::moved_to<host, M>> copy_;
};

}  // namespace laconic::wire
