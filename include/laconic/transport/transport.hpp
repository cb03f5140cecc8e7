// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>

#include "laconic/backend/host.hpp"
#include "laconic/comm/communicator.hpp"
#include "laconic/core/round_context.hpp"
#include "laconic/core/view.hpp"
#include "laconic/message/message.hpp"
#include "laconic/wire/failure.hpp"
#include "laconic/wire/stream.hpp"

namespace laconic::detail {

/// Why this rank's state may not match the other ranks', if it may not: then a run goes on only from a saved state.
class broken_round {
  public:
    /// From here on the server may have updated its state and this rank not; on the server, the others.
    void answer_is_on_its_way() { why_ = why::answer; }
    /// From here on other ranks may have the sum of a collective, and this one not.
    void sum_is_under_way() { why_ = why::sum; }
    /// From here on this rank's state is updated in part.
    void rank_moves() { why_ = why::move; }
    /// From here on other ranks may have finished the round, which this one may have not.
    void round_is_under_way() { why_ = why::round; }
    void recover() { why_ = why::none; }

    /// Throws comm_error on rank `rank` where round `round` was left after one of these.
    void require_consistent(int rank, std::uint64_t round) const {
        if (why_ == why::answer) throw comm_error(0, {"the server's answer in round ", round, " was lost", ending});
        if (why_ == why::sum)
            throw comm_error(
                -1, {"the collective of round ", round, " broke off, and other ranks may have its sum", ending});
        if (why_ == why::round)
            throw comm_error(-1, {"round ", round, " broke off, and other ranks may have finished it", ending});
        if (why_ == why::move)
            throw comm_error(rank, {"round ", round, " broke off while rank ", rank, " moved", ending});
    }

  private:
    static constexpr char const* ending = ": only a saved state can be gone on from";
    enum class why { none, answer, sum, round, move };
    why why_ = why::none;
};

}  // namespace laconic::detail

namespace laconic {

/// How the ranks' messages become one estimate of the mean gradient. A recursion carries it as a small value:
/// gather_all (gathered.hpp), served{C} (served.hpp), or a collective such as gtop_k{0.01} (summed.hpp);
/// transport_for has the class that works, of which each rank makes one. Satisfied iff
/// - tr.require_beside(feedback, name) throws argument_error where it does not go with the feedback of that name;
/// - tr.start(comm) comes once, before the first round, on all ranks;
/// - tr.send(on, comm, now, mine, own) is the first half of a round: this rank's message starts on its way, or its
///   failure where it has one; both stay as they are until receive();
/// - tr.receive(on, comm, now, mine, own, blank, feedback, mean) is the second half: what there is of the mean of all
///   messages. blank(on, r, m) makes m what is known of rank r's message beforehand, and returns the compressor that
///   does. Throws on every rank what a rank's failure is, and wire_error for bytes that are no message; the feedback
///   has not changed then, and mean is unspecified;
/// - tr.give_back(on, feedback) ends a round that has succeeded: it hands to a feedback that has been updated what the
///   transport left out and this rank must send again;
/// - tr.reconstruct(on, comm, now, feedback, mean) makes of the mean, once the feedback has been updated, the estimate;
/// - tr.require_consistent() throws comm_error once receive() has failed where other ranks may have gone on, until
///   tr.recover();
/// - tr.state(archive) is what it remembers from round to round (wire/state.hpp).
/// One of your own may inherit what most have in common from plain_transport; the value that a recursion carries names
/// it as its member X::transport<M, T, B>.
template <class Tr, class C, class M, class F, class T = double, class B = host>
concept Transport = requires(Tr& tr, Tr const& same, B& on, C& comm, round_context const& now, M const& mine,
                             detail::failure const& own, void (*blank)(B&, int, M&), F& feedback, std::span<T> mean,
                             std::string const& name) {
    same.require_beside(feedback, name);
    tr.start(comm);
    tr.send(on, comm, now, mine, own);
    tr.receive(on, comm, now, mine, own, blank, feedback, mean);
    tr.give_back(on, feedback);
    tr.reconstruct(on, comm, now, feedback, mean);
    same.require_consistent();
    tr.recover();
};

/// What most transports do in the same way: they go with any feedback, leave nothing out, remember nothing, and all
/// ranks get the mean of the messages.
struct plain_transport {
    /// Whether a collective adds the messages up on their way.
    static constexpr bool uses_collective() { return false; }
    static constexpr bool is_robust() { return false; }  ///< whether the estimate is another than the messages' mean
    /// Whether nothing else may be on its way from send() to receive(): the same on all ranks.
    static constexpr bool travels_alone(auto&) { return true; }
    void require_beside(auto const&, std::string const&) const {}
    void start(auto&) {}
    void give_back(auto&, auto&) const {}
    template <class B, class C, class F, Scalar T>
    void reconstruct(B& on, C const&, round_context const& now, F& feedback, std::span<T> mean) {
        feedback.reconstruct(on, now, mean);
    }
    /// Only detail::gathered lets several messages share a payload, and overrides this; it is never called on others.
    void write(auto&&...) { LACONIC_EXPECTS(false); }
    void read_and_add(auto&&...) { LACONIC_EXPECTS(false); }
    bool add_in_parts(auto&, auto&, auto const&, auto) { return false; }
    /// Waits until nothing of this transport's runs on another thread, and keeps how that ended for receive().
    void wait() const {}
    void require_consistent() const {}
    void recover() {}
    void state(auto&) {}
};

namespace detail {

/// transport_of<X, M, T, B>::type carries messages M by what a recursion calls X.
template <class X, class M, class T, class B>
struct transport_of {
    static_assert(std::same_as<X, void>,
                  "this is no transport for these numbers: it is gather_all{}, served{C}, or a collective "
                  "(collective/collective.hpp)");
};
template <class X, class M, class T, class B>
requires requires { typename X::template transport<M, T, B>; }
struct transport_of<X, M, T, B> {
    using type = typename X::template transport<M, T, B>;
};

/// The transport that a recursion names by X has a server, which answers with a feedback of its own (served.hpp).
template <class X>
concept HasServer = requires(X const& x) {
    x.feedback;
};

/// The class that carries messages M of numbers of T by the transport that a recursion calls X. It is made of an X, the
/// vectors' dimension and how positions are written, and throws argument_error where X does not suit these vectors.
template <class X, class M, Scalar T = double, class B = host>
using transport_for = typename transport_of<X, M, T, B>::type;

}  // namespace detail

}  // namespace laconic
