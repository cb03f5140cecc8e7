// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "laconic/collective/collective.hpp"
#include "laconic/comm/communicator.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"
#include "laconic/feedback/feedback.hpp"
#include "laconic/message/message.hpp"
#include "laconic/wire/state.hpp"

namespace laconic {

namespace detail {

/// Whether the last sum of the ranks' ended alike on all of them, as far as this one knows.
class whole_sums {
  public:
    /// sum(), of that round.
    template <class Sum>
    void run(std::uint64_t round, Sum sum) {
        round_ = round;
        parted_ = true;
        try {
            sum();
        } catch (wire_error const&) {  // who knows where it came through, and who has received
            throw;
        } catch (comm_error const&) {
            throw;
        } catch (error const&) {  // all ranks know what is wrong with what they brought
            parted_ = false;
            throw;
        }
        parted_ = false;
    }
    /// Throws comm_error after a round whose collective broke off in the middle: other ranks may have its sum.
    void require() const {
        if (parted_)
            throw comm_error(-1,
                             concat({"the collective of round ", round_,
                                     " broke off, and other ranks may have its sum: only a saved state can be gone on "
                                     "from"}));
    }
    void make_whole() { parted_ = false; }

  private:
    std::uint64_t round_ = 0;
    bool parted_ = false;
};

/// Throws argument_error where the collective of that name stands beside a feedback that would lose what it gives back.
template <class F>
void require_collective_beside(std::string const& name, bool gives_back, F const& feedback,
                               std::string const& described) {
    if constexpr (KeepsLeftover<F>)
        if (feedback.keeps_leftover()) return;
    if (gives_back)
        throw argument_error(concat({"the collective ", name, " gives back what it leaves out, which the feedback ",
                                     described, " would lose: it goes with memory(0, 1) or momentum_correction"}));
}

}  // namespace detail

/// The mean of the ranks' messages, where a collective adds them up: each rank's message becomes a list of terms or a
/// vector in full, whichever the collective sums. Reuses its memory.
template <class X, Scalar T, class B = host>
class collective_mean {
    static_assert(Collective<X, T, B>,
                  "this is no collective for these numbers (collective/collective.hpp); on a device messages are "
                  "gathered, or added up by gtop_k or engine_all_reduce");
    using sum_type = detail::sum_of<X, T, B>;

  public:
    /// Of vectors of d numbers. Throws argument_error where x does not suit them.
    collective_mean(X const& x, std::size_t d, position_code positions)
        : name_(to_string(x)), sum_((x.check(d), x.template make<T, B>(d, positions))) {
        mine_.reset(d);
    }

    /// Throws argument_error beside a feedback that would lose what comes back.
    template <class F>
    void require_beside(F const& feedback, std::string const& described) const {
        detail::require_collective_beside(name_, gives_back(), feedback, described);
    }

    /// mean <- sum / P, what is applied of the messages' sum, the same on all ranks. Errors as the collective's; then
    /// mean is unspecified.
    template <Communicator C, class M>
    void operator()(B& on, C& comm, M const& m, std::uint64_t round, std::span<T> mean) {
        load<C>(on, m, mean);
        add_up(on, comm, round, mean);
        take<C>(on, comm.size(), mean);
    }
    /// The same in three steps, of which the second alone communicates; each is given the same vector. This rank's part
    /// is that of its message, or, on a rank whose i-th number is not finite, one of which all ranks throw
    /// non_finite_error.
    template <Communicator C, class M>
    void load(B& on, M const& m, std::span<T> mean) {
        sums_terms<C>() ? list(on, m, mean) : write_out(on, m, mean);
    }
    template <Communicator C>
    void load_bad(B& on, std::size_t i, std::span<T> mean) {
        T const bad = std::numeric_limits<T>::quiet_NaN();
        auto const at = static_cast<coordinate>(i);
        if (sums_terms<C>()) return mine_.assign(on, mean.size(), std::span(&at, 1), std::span(&bad, 1));
        fill(on, mean, T(0));
        copy_from_host(on, std::span(&bad, 1), mean.subspan(i, 1));
    }
    template <Communicator C>
    void add_up(B& on, C& comm, std::uint64_t round, std::span<T> mean) {
        whole_.run(round, [&] {
            if constexpr (SumsTerms<sum_type, T, B, C>)
                if (sums_terms<C>()) return static_cast<void>(sum_(on, comm, mine_, round));
            if constexpr (SumsNumbers<sum_type, T, B, C>) sum_(on, comm, mean, round);
        });
    }
    template <Communicator C>
    void take(B& on, int ranks, std::span<T> mean) {
        T const share = T(1) / static_cast<T>(ranks);
        if (!sums_terms<C>()) return multiply(on, share, mean);
        multiply(on, share, mine_.values_to_fill());
        fill(on, mean, T(0));
        scatter(on, mine_.values(), mine_.support(), 1, mean);
    }

    /// Tells the feedback what this rank must bring again.
    template <class F>
    void give_back(B& on, F& feedback) const {
        if constexpr (GivesBack<sum_type, T, B>)
            if constexpr (KeepsLeftover<F>)
                if (gives_back()) feedback.keep(on, sum_.leftover().message());
    }

    /// See whole_sums.
    void require_whole() const { whole_.require(); }
    void make_whole() { whole_.make_whole(); }

    /// What the collective remembers from round to round, where it does.
    template <class Archive>
    void state(Archive& archive) {
        if constexpr (HasState<sum_type, Archive>) sum_.state(archive);
    }

  private:
    // One that is chosen at run time has all members; gives_back() decides whether leftover() may be called.
    bool gives_back() const {
        if constexpr (ChosenSum<sum_type>)
            return sum_.gives_back();
        else
            return GivesBack<sum_type, T, B>;
    }
    // Whether it sums lists of terms, over such a communicator; else vectors in full.
    template <class C>
    bool sums_terms() const {
        static constexpr bool terms = SumsTerms<sum_type, T, B, C>, numbers = SumsNumbers<sum_type, T, B, C>;
        static_assert(terms || numbers,
                      "this collective is not for this communicator: most need one that is PointToPoint, with "
                      "exchange(to, mine, from) (comm/communicator.hpp)");
        if constexpr (terms && ChosenSum<sum_type>)
            return !numbers || sum_.wants_terms();
        else
            return terms;
    }

    template <class M>
    static void write_out(B& on, M const& m, std::span<T> out) {
        fill(on, out, T(0));
        add_message(on, out, T(1), m);
    }
    template <class M>
    void list(B& on, M const& m, std::span<T> spare) {
        if constexpr (TermMessage<M>) {
            if constexpr (MayGrow<M>) mine_.announce(m.most_terms());
            mine_.assign(on, m);
        } else {  // what is not 0 is listed
            write_out(on, m, spare);
            mine_.assign_nonzero(on, spare);
        }
    }

    std::string name_;
    sum_type sum_;
    sparse_sum<T, B> mine_;
    detail::whole_sums whole_;
};

}  // namespace laconic
