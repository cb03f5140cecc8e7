// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "laconic/collective/collective.hpp"
#include "laconic/feedback/feedback.hpp"
#include "laconic/transport/transport.hpp"
#include "laconic/wire/state.hpp"

namespace laconic::detail {

/// The transport by a collective: it adds the messages up on their way, and may leave some of the sum to later rounds.
/// Each rank's message becomes a list of terms or a vector in full, whichever the collective sums. A rank without a
/// message takes part with its failure. Reuses its memory.
template <class X, class M, Scalar T, class B = host>
class summed : public plain_transport {
    static_assert(Collective<X, T, B>,
                  "this is no collective for these numbers (collective/collective.hpp); on a device messages are "
                  "gathered, or added up by gtop_k or engine_all_reduce");
    using sum_type = sum_of<X, T, B>;

  public:
    /// Of vectors of d numbers. Throws argument_error where x does not suit them.
    summed(X const& x, std::size_t d, position_code positions)
        : name_(to_string(x)), rounds_(rounding_of(x).rounds), sum_(make_sum<T, B>(x, d, positions)) {
        mine_.reset(d);
    }

    /// Throws argument_error beside a feedback that would lose what the collective leaves out; `described` names what
    /// has that feedback, in the caller's words.
    template <class F>
    void require_beside(F const& feedback, std::string const& described) const {
        if (keeps_leftover(feedback)) return;
        if constexpr (requires { feedback.rate(); })
            if (rounds_ && feedback.rate() == 0) return;
        if (gives_back())
            throw argument_error({"the collective ", name_, " gives back what it leaves out, which ", described,
                                  " would lose: take a collective that applies the whole sum, or error feedback: "
                                  "error_feedback{...} in a reducer, memory(0, 1) in a recursion"});
    }
    static constexpr bool uses_collective() { return true; }
    void send(B&, Communicator auto&, round_context const&, M const&, failure const&, int = 0) {
    }  // receive() adds them up
    /// mean <- the part of the mean of all messages that the collective applies, the same bits on all ranks. Throws the
    /// collective's errors, too.
    template <Communicator C, class Blank, class F>
    void receive(B& on, C& comm, round_context const& now, M const& mine, failure const& own, Blank const&,
                 F const& feedback, std::span<T> mean, int = 0) {
        load<C>(on, mine, own, mean);
        add_up(on, comm, now.round, own, mean, keeps_leftover(feedback));
        take<C>(on, mean, mean);
    }

    /// receive() in three steps that share a vector, of which the second alone communicates. The first sets this rank's
    /// part to its message, or to zeros where it has failed.
    template <Communicator C>
    void load(B& on, M const& mine, failure const& own, std::span<T> shared) {
        bool const terms = sums_terms<T, B, C>(sum_);
        if (!own) return terms ? list(on, mine, shared) : write_out(on, mine, shared);
        terms ? mine_.reset(shared.size()) : fill(on, shared, T(0));
    }
    template <Communicator C>
    void add_up(B& on, C& comm, std::uint64_t round, failure const& own, std::span<T> shared, bool keeps = true) {
        round_ = round;
        broken_.sum_is_under_way();
        T const share = T(1) / static_cast<T>(comm.size());
        bool const terms = sums_terms<T, B, C>(sum_);
        sum_round const now(round, own ? &own : nullptr, keeps);
        try {
            if constexpr (SumsTerms<sum_type, T, B, C>)
                if (terms) sum_(on, comm, mine_, now);
            if constexpr (SumsNumbers<sum_type, T, B, C>)
                if (!terms) sum_(on, comm, shared, now);
        } catch (wire_error const&) {  // who knows where it came through, and who has received
            throw;
        } catch (comm_error const&) {
            throw;
        } catch (error const&) {  // all ranks know what is wrong with what they brought
            broken_.recover();
            throw;
        }
        broken_.recover();
        multiply(on, share, terms ? mine_.values_to_fill() : shared);
    }
    template <Communicator C>
    void take(B& on, std::span<T const> shared, std::span<T> mean) {
        if (!sums_terms<T, B, C>(sum_)) {
            if (shared.data() != mean.data()) copy(on, shared, mean);
            return;
        }
        mine_.write_out(on, mean);
    }

    /// Adds to the feedback what this rank must send again.
    template <class F>
    void give_back(B& on, F& feedback) {
        if constexpr (Commits<sum_type>) sum_.commit();
        if constexpr ((ChosenSum<sum_type> || GivesBack<sum_type, T, B>)&&KeepsLeftover<F>)
            if (gives_back() && keeps_leftover(feedback)) add_leftover(on, sum_, feedback.residual_for_leftover());
    }
    void require_consistent() const { broken_.require_consistent(no_rank, round_); }
    void recover() { broken_.recover(); }
    /// What the collective remembers from round to round, where it does.
    template <class Archive>
    void state(Archive& archive) {
        if constexpr (wire::HasState<sum_type, Archive>) sum_.state(archive);
    }

  private:
    template <class F>
    static bool keeps_leftover(F const& feedback) {
        if constexpr (KeepsLeftover<F>) return feedback.keeps_leftover();
        return false;
    }
    // One that is chosen at run time has all members; gives_back() decides whether leftover() may be called.
    bool gives_back() const {
        if constexpr (ChosenSum<sum_type>) return sum_.gives_back();
        return GivesBack<sum_type, T, B>;
    }
    static void write_out(B& on, M const& m, std::span<T> out) {
        fill(on, out, T(0));
        add_message(on, out, T(1), m);
    }
    void list(B& on, M const& m, std::span<T> spare) {
        if constexpr (messages::TermMessage<M>) {
            if constexpr (messages::MayGrow<M>) mine_.announce(m.most_terms());
            mine_.assign(on, m);
        } else {  // what is not 0 is listed
            write_out(on, m, spare);
            mine_.assign_nonzero(on, spare);
        }
    }

    std::string name_;
    bool rounds_;  // and leaves out nothing else
    sum_type sum_;
    sparse_sum<T, B> mine_;
    std::uint64_t round_ = 0;
    broken_round broken_;
};

template <class X, class M, class T, class B>
requires requires { typename sum_of<X, T, B>; }
struct transport_of<X, M, T, B> {
    using type = summed<X, M, T, B>;
};

}  // namespace laconic::detail
