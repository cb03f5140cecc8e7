// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>

#include "laconic/collective/collective.hpp"

namespace laconic {

/// The sum of sparse vectors by recursive doubling (SparCML's SSAR_Recursive_double, Renggli et al., SC 2019): partners
/// at distance 1, 2, 4, .. exchange all that they have added up. log2 P messages one after another, of k, up to 2 k, up
/// to 4 k, .. terms. If P is no power of two, and Q the largest one below P, rank Q + i first sends its terms to rank
/// i, from which it receives the sum at the end: 2 messages more. Ranks are added up in the same pairs everywhere, so
/// that all get the same bits. Memory grows with the terms of the sum.
struct recursive_doubling {
    static constexpr void description(auto&& describe) {
        describe("recursive_doubling", "sparse", "Renggli et al., SC 2019");
    }
    template <Scalar T, OnHost B = host>
    class adder;
    bool operator==(recursive_doubling const&) const = default;
};

template <Scalar T, OnHost B>
class recursive_doubling::adder : detail::sum_in_session {
  public:
    using detail::sum_in_session::sum_in_session;

    /// Who receives damaged bytes cannot report them to the half of the ranks that it sends nothing more: they have the
    /// sum.
    void operator()(B& on, PointToPoint auto& comm, sparse_sum<T, B>& v, sum_round round = {}) {
        int const me = comm.rank(), paired = static_cast<int>(std::bit_floor(static_cast<unsigned>(comm.size())));
        auto const most = detail::most_terms_of_sum(v, d_, static_cast<std::size_t>(comm.size()));
        session_.make_room<T>(most);
        theirs_.reserve(on, most);
        v.reserve(on, most);
        session_.start(on, comm, round, v, d_);
        auto const send = [&](wire::bit_writer& sink) { write(sink, v); };
        auto const add = [&](wire::bit_reader& source) {
            theirs_.expect(d_);
            read(on, source, theirs_);
            v.add(on, theirs_);
            session_.check_sum(on, v);
        };
        if (me >= paired) {
            session_.send(comm, me - paired, send);
            session_.receive(comm, me - paired, [&](wire::bit_reader& source) { read(on, source, v); });
            return session_.finish();
        }
        if (me + paired < comm.size()) session_.receive(comm, me + paired, add);
        for (int distance = 1; distance < paired; distance *= 2)
            session_.exchange(comm, me ^ distance, send, me ^ distance, add);
        if (me + paired < comm.size()) session_.send(comm, me + paired, send);
        session_.finish();
    }

  private:
    sparse_sum<T, B> theirs_;
};

}  // namespace laconic
