// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
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
    void write_message(bit_writer& sink, B& on, M const& m) {
        if constexpr (OnHost<B>) {
            write_on(on, sink, m);
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

    /// The same, and adds w times the message to out, which turn_back() is for; see wire::read_and_add().
    template <Scalar T>
    void read_and_add(auto& source, auto blank, int r, B& on, M& m, T w, std::span<T> out) {
        if constexpr (OnHost<B>) {
            wire::read_and_add(on, source, m, blank(on, r, m), w, {out, false, false, true});
        } else {
            read_message(source, blank, r, on, m);
            messages::add_unturned(on, out, w, std::as_const(m));
        }
    }

  private:
    template <int>
    struct nothing {};
    [[no_unique_address]] std::conditional_t<OnHost<B>, nothing<0>, host> host_;
    [[no_unique_address]] std::conditional_t<OnHost<B>, nothing<1>, messages::moved_to<host, M>> copy_;
};

}  // namespace laconic::wire
