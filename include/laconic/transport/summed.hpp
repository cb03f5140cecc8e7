// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "laconic/backend/host.hpp"
#include "laconic/collective/collective.hpp"
#include "laconic/comm/communicator.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/round_context.hpp"
#include "laconic/transport/collective_mean.hpp"
#include "laconic/transport/error_frame.hpp"
#include "laconic/transport/transport.hpp"

namespace laconic {

namespace detail {

/// sum(); where it throws non_finite_error, the frame of the rank that it names broadcasts the reason, if it has one.
template <Communicator C, class Sum>
void raise_alike(C& comm, error_frame const& frame, Sum sum) {
    std::optional<non_finite_error> wrong;  // ranks that are fibers do not communicate while they handle it
    try {
        sum();
    } catch (non_finite_error const& e) {
        wrong = e;
    }
    if (!wrong) return;
    frame.explain(comm, *wrong);
    throw *wrong;
}

}  // namespace detail

/// The transport by a collective: it adds the messages up on their way, and may leave some of the sum to later rounds.
/// A rank without a message takes part with its error frame. Reuses its memory.
template <class X, class M, Scalar T, class B = host>
class summed : public plain_transport {
  public:
    summed(X const& collective, std::size_t d, position_code positions) : mean_(collective, d, positions) {}

    /// Throws argument_error beside a feedback that would lose what the collective leaves out.
    template <class F>
    void require_beside(F const& feedback, std::string const& described) const {
        mean_.require_beside(feedback, described);
    }
    static constexpr bool uses_collective() { return true; }
    template <Communicator C>
    void send(B&, C&, round_context const&, M const&, error_frame const&, int = 0) {
    }  // messages go as they are added up
    /// mean <- of the mean of all messages what is applied, the same bits on all ranks. Throws the collective's errors,
    /// too.
    template <Communicator C, class Blank, class F>
    void receive(B& on, C& comm, round_context const& now, M const& mine, error_frame const& frame, Blank const&,
                 F const&, std::span<T> mean, int = 0) {
        if (frame.is_set())
            mean_.template load_bad<C>(on, frame.coordinate(), mean);
        else
            mean_.template load<C>(on, mine, mean);
        detail::raise_alike(comm, frame, [&] { mean_.add_up(on, comm, now.round, mean); });
        mean_.template take<C>(on, comm.size(), mean);
    }
    template <class F>
    void give_back(B& on, F& feedback) const {
        mean_.give_back(on, feedback);
    }
    void require_whole() const { mean_.require_whole(); }
    void make_whole() { mean_.make_whole(); }
    template <class Archive>
    void state(Archive& archive) {
        mean_.state(archive);
    }

  private:
    collective_mean<X, T, B> mean_;
};

namespace detail {

template <class X, class M, class T, class B>
requires requires(X const& x) { x.template make<T, B>(std::size_t{}, position_code::smallest); }
struct transport_of<X, M, T, B> {
    using type = summed<X, M, T, B>;
};

}  // namespace detail
}  // namespace laconic
