// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "laconic/collective/agreement.hpp"
#include "laconic/collective/session.hpp"
#include "laconic/core/size.hpp"

namespace laconic::detail {

/// sum(on, comm, v, round) replaces every rank's sparse vector by the sum of all, or by what is to be applied of it.
/// Where round.own is set this rank brings nothing, and all ranks throw that: session::start takes care of it.
template <class S, class T, class B, class C>
concept SumsTerms = requires(S& sum, B& on, C& comm, sparse_sum<T, B>& v, sum_round const& round) {
    sum(on, comm, v, round);
};
/// The same with vectors in full.
template <class S, class T, class B, class C>
concept SumsNumbers = requires(S& sum, B& on, C& comm, std::span<T> x, sum_round const& round) {
    sum(on, comm, x, round);
};

/// A sum that is chosen at run time has all of these members; wants_terms() and gives_back() decide which of them may
/// be called.
template <class S>
concept ChosenSum = requires(S const& sum) {
    { sum.wants_terms() } -> std::same_as<bool>;
    { sum.gives_back() } -> std::same_as<bool>;
};

/// sum.leftover() is what the last sum did not apply and this rank must send again in a later round: a list of terms,
/// or a vector in full, empty where nothing can be left out.
template <class S, class T, class B>
concept GivesBack = requires(S const& sum) {
    { sum.leftover() } -> std::same_as<sparse_sum<T, B> const&>;
}
|| requires(S const& sum) {
    { sum.leftover() } -> std::same_as<std::span<T const>>;
};
/// e <- e + sum.leftover().
template <class B, Scalar T>
void add_leftover(B& on, auto const& sum, std::span<T> e) {
    if constexpr (ChosenSum<std::remove_cvref_t<decltype(sum)>>)
        sum.add_leftover(on, e);
    else if constexpr (requires { sum.leftover().message(); })
        add_message(on, e, T(1), sum.leftover().message());
    else if (auto const left = sum.leftover(); !left.empty())
        add_scaled(on, T(1), left, e);
}
/// sum.commit() is called once the round in which the sum was made has succeeded on all ranks: from then on what it
/// remembers of that round counts.
template <class S>
concept Commits = requires(S& sum) {
    sum.commit();
};

/// Whether a collective rounds the numbers that travel, and leaves out nothing else: then error feedback may keep that,
/// and need not. And whether it does so without bias, and as a contractive compressor.
struct sum_rounding {
    bool rounds = false, unbiased = true, contractive = true;
};
/// x.rounding(), which a collective has that rounds so.
template <class X>
sum_rounding rounding_of([[maybe_unused]] X const& x) {
    if constexpr (requires { x.rounding(); }) return x.rounding();
    return {};
}

// Only to ask what may be called with one.
struct some_ranks {
    int rank() const;
    int size() const;
    void all_gather(payload);
    void gather(int, payload);
    void broadcast(int, payload);
    payload from(int) const;
    payload exchange(int, payload, int);
    template <class T>
    void all_reduce(std::span<T>);
    void require_stream_of(auto&);
    void together(auto);
    template <class T>
    void spread(int, std::span<T const>, std::span<T>);
    template <class T>
    void send(int, std::span<T>);
    template <class T>
    void receive(int, std::span<T>);
};

template <class X, class T, class B>
using sum_of = typename X::template adder<T, B>;

/// Whether a sum over such a communicator is given a list of terms; else it is given a vector in full. One that takes
/// both is given what the caller has, one that is chosen at run time what it wants.
template <class T, class B, class C, class S>
bool sums_terms([[maybe_unused]] S const& sum, bool has_terms = true) {
    static constexpr bool terms = SumsTerms<S, T, B, C>, numbers = SumsNumbers<S, T, B, C>;
    static_assert(terms || numbers,
                  "this collective is not for this communicator: most need one that is PointToPoint, with "
                  "exchange(to, mine, from), or an AllReducer, whose engine adds up itself (comm/communicator.hpp)");
    if constexpr (terms && numbers && ChosenSum<S>) return sum.wants_terms();
    return terms && (has_terms || !numbers);
}

/// Sums vectors in full and lists of terms by what adds up either of them: vectors in full as lists of their terms that
/// are not 0, and lists in full, without the terms that are 0 then. Reuses its memory.
template <Scalar T, class B = host>
class either_form {
  public:
    template <Communicator C, class S>
    void operator()(B& on, C& comm, S& sum, std::span<T> x, sum_round const& round) {
        [[maybe_unused]] bool const terms = sums_terms<T, B, C>(sum, false);
        if constexpr (SumsNumbers<S, T, B, C>)
            if (!terms) return sum(on, comm, x, round);
        if constexpr (SumsTerms<S, T, B, C> && (ChosenSum<S> || !SumsNumbers<S, T, B, C>)) {
            list_.assign_nonzero(on, x);
            sum(on, comm, list_, round);
            list_.write_out(on, x);
        }
    }
    template <Communicator C, class S>
    void operator()(B& on, C& comm, S& sum, sparse_sum<T, B>& v, sum_round const& round) {
        [[maybe_unused]] bool const terms = sums_terms<T, B, C>(sum);
        if constexpr (SumsTerms<S, T, B, C>)
            if (terms) return sum(on, comm, v, round);
        if constexpr (SumsNumbers<S, T, B, C> && (ChosenSum<S> || !SumsTerms<S, T, B, C>)) {
            full_.resize(v.dimension());
            std::span<T> const full(full_);
            v.write_out(on, full);
            sum(on, comm, full, round);
            v.assign_nonzero(on, full);
        }
    }

  private:
    sparse_sum<T, B> list_;
    typename B::template array<T> full_;
};

void check_collective([[maybe_unused]] auto const& x, [[maybe_unused]] std::size_t d) {
    if constexpr (requires { x.check(d); }) x.check(d);
}

/// Throws agreement_error on every rank unless all make the same collective for d numbers. Costs 16 bytes a rank.
template <class T, Communicator C>
void agree_on_collective(C& comm, std::size_t d, std::string const& what) {
    require_agreement(comm, {{"the dimension", d},
                             {"the bytes of a number", sizeof(T)},
                             {"the version of the wire format", wire::wire_version},
                             {"the collective", what}});
}

}  // namespace laconic::detail

namespace laconic {

/// Messages go to all ranks as they are: over any communicator, and whatever the messages are.
struct gather_all {
    static constexpr void description(auto&& describe) {
        describe("gather", "every rank, or a server, receives all messages", "");
    }
    bool operator==(gather_all const&) const = default;
};

/// By what algorithm the ranks' messages are added up, as a recursion carries it: a small value such as
/// gtop_k{0.01}. Satisfied iff
///   X::adder<T, B>                is the type of the object that works, of which each rank makes one of (x, d,
///                                 positions) for vectors of d numbers; it SumsTerms or SumsNumbers, may give back,
///                                 and reuses its memory from round to round; it throws what session::finish does,
///                                 and what was summed is unspecified then; with state(archive) (wire/state.hpp) what
///                                 else it remembers is saved, and with commit() it changes that only when the round
///                                 has succeeded for all that the ranks sum in it;
///   to_string(x)                  is what the ranks must agree on.
/// Optional: x.check(d) throws argument_error where it does not suit vectors of d numbers. Where the adder is for one
/// backend alone, as `template <Scalar T, OnHost B> class adder` is, so is the collective. Where it throws a wire_error
/// or a comm_error, some ranks may have the sum; any other laconic::error is thrown on all.
template <class X, class T = double, class B = host>
concept Collective = std::copyable<X> && requires(X const& x) {
    { to_string(x) } -> std::convertible_to<std::string>;
    typename detail::sum_of<X, T, B>;
} &&(detail::SumsTerms<detail::sum_of<X, T, B>, T, B, detail::some_ranks> ||
     detail::SumsNumbers<detail::sum_of<X, T, B>, T, B, detail::some_ranks>);

/// The object that adds up vectors of d numbers by x on one rank, outside of a recursion or a reducer, where the ranks
/// make the same. Throws argument_error for 2^32 numbers or more, and what x.check(d) does.
template <Scalar T, class B = host, class X>
detail::sum_of<X, T, B> make_sum(X const& x, std::size_t d, position_code positions = position_code::smallest) {
    messages::check_dimension(d);
    detail::check_collective(x, d);
    return {x, d, positions};
}
/// The same; throws agreement_error on all ranks where they do not make the same. Costs 16 bytes a rank.
template <Scalar T, class B = host, class X, Communicator C>
detail::sum_of<X, T, B> make_sum(X const& x, C& comm, std::size_t d,
                                 position_code positions = position_code::smallest) {
    detail::agree_on_collective<T>(comm, d, to_string(x));
    return make_sum<T, B>(x, d, positions);
}

}  // namespace laconic

namespace laconic::detail {

/// sum.reduce_scatter(on, comm, v, round) leaves in v this rank's part of the sum, as `partition` cuts it, and sends
/// less than a sum does.
template <class S, class B, class C, class V>
concept ReduceScatters = requires(S& sum, B& on, C& comm, V v) {
    sum.reduce_scatter(on, comm, v, std::uint64_t{});
};

/// The sum of vectors by the collective X, which applies the whole sum, whether it adds up lists of terms or vectors in
/// full, and whichever the caller has. Reuses its memory.
template <class X, Scalar T>
class whole_sum {
    static constexpr bool is_collective = Collective<X, T, host>;
    static_assert(is_collective,
                  "the last argument is no collective for these numbers on the host: take one such as ring{}, or leave "
                  "it out (collective/collective.hpp)");
    using algorithm = sum_of<X, T, host>;
    static constexpr bool rounds = requires(X const& x) { x.rounding(); };
    static_assert(ChosenSum<algorithm> || rounds || !GivesBack<algorithm, T, host>,
                  "this collective leaves terms out of the sum: take one that applies the whole sum, such as ring{}");

  public:
    /// Of vectors of d numbers. Throws argument_error where x does not suit them, or leaves terms out of the sum.
    whole_sum(X const& x, std::size_t d) : sum_(make_sum<T>(x, d)) {
        if constexpr (ChosenSum<algorithm>)
            if (sum_.gives_back() && !rounding_of(x).rounds)
                throw argument_error(
                    {"the collective ", to_string(x),
                     " leaves terms out of the sum: take one that applies the whole sum, such as ring"});
    }

    /// v, in full or a list of terms, <- the sum of all ranks' v. Throws what the collective does, and then v is
    /// unspecified.
    void operator()(host& on, Communicator auto& comm, auto&& v, std::uint64_t round) {
        by_(on, comm, sum_, v, {round, nullptr, false});
    }
    /// This rank's part of x, as `partition` cuts it, <- that part of the sum; the rest of x is unspecified then.
    template <Communicator C>
    void reduce_scatter(host& on, C& comm, std::span<T> x, std::uint64_t round) {
        if constexpr (ReduceScatters<algorithm, host, C, std::span<T>>)
            sum_.reduce_scatter(on, comm, x, sum_round{round, nullptr, false});
        else
            (*this)(on, comm, x, round);
    }
    /// v <- the terms of this rank's part of the sum.
    template <Communicator C>
    void reduce_scatter(host& on, C& comm, sparse_sum<T>& v, std::uint64_t round) {
        if constexpr (ReduceScatters<algorithm, host, C, sparse_sum<T>&>) {
            sum_.reduce_scatter(on, comm, v, round);
        } else {
            (*this)(on, comm, v, round);
            partition const parts{v.dimension(), static_cast<std::size_t>(comm.size())};
            auto const me = static_cast<std::size_t>(comm.rank());
            list_.reset(v.dimension());
            list_.append(v.listed(parts.first(me), parts.length(me)), 0);
            std::swap(v, list_);
        }
    }

  private:
    algorithm sum_;
    sparse_sum<T> list_;
    either_form<T> by_;
};

}  // namespace laconic::detail
