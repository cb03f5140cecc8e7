// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "laconic/backend/array.hpp"
#include "laconic/feedback/feedback.hpp"

namespace laconic::detail {

template <class B, Scalar T>
void check_answer(B& on, char const* what, std::span<T const> x) {
    if (auto const j = first_non_finite(on, x); j < x.size())
        throw error(concat({std::string(what), " is not finite at coordinate ", j}));
}

/// Makes the server's answer m to d, the mean of the messages. d becomes the vector that m compresses; `kept` gets the
/// mean, for feedback.reconstruct(), as no state is updated here. Throws error where something is not finite, and
/// whatever the server's compressor throws.
template <class F, class Server, class B, Scalar T, class Array, class M>
void make_answer(F const& feedback, Server const& server, B& on, round_context const& now, std::span<T> d, Array& kept,
                 M& m) {
    check_answer(on, "the mean of the messages", std::span<T const>(d));
    kernels::assign(on, std::span<T const>(d), kept);
    preview_estimate(feedback, on, now, d);
    server.feedback.compensate(on, now, d);
    check_answer(on, "what the server has to send", std::span<T const>(d));
    server.compressor(on, std::span<T const>(d), now.answer, m);
}

}  // namespace laconic::detail
