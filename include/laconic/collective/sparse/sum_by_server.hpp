// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "laconic/collective/collective.hpp"
#include "laconic/collective/parts.hpp"

namespace laconic {

/// The sum of vectors by a server, which is also rank 0: all ranks hand it theirs, it adds them up in the order of
/// ranks and sends the sum to all, the same bits. Two messages one after another, but P - 1 of them through the
/// server's port each way. served{C} has the same with messages of any kind and a compressed answer. Memory goes with
/// the terms of the sum, and grows where there are more than ever before.
struct sum_by_server {
    static constexpr void description(auto&& describe) {
        describe("sum_by_server", "sparse: rank 0 adds up all, and sends the sum", "");
    }
    template <Scalar T, OnHost B = host>
    class adder;
    bool operator==(sum_by_server const&) const = default;
};

template <Scalar T, OnHost B>
class sum_by_server::adder : detail::sum_in_session {
  public:
    using detail::sum_in_session::sum_in_session;

    void operator()(B& on, PointToPoint auto& comm, sparse_sum<T, B>& v, sum_round round = {}) {
        auto const most = detail::most_terms_of_sum(v, d_, static_cast<std::size_t>(comm.size()));
        if (comm.rank() == 0) theirs_.reserve(on, std::min(v.size(), d_));
        v.reserve(on, most);
        session_.make_room<T>(most);
        auto const take = [&](wire::bit_reader& source, sparse_sum<T, B>& to) {
            to.reset(d_);
            read(on, source, to);
        };
        auto const add = [&](wire::bit_reader& source) {
            take(source, theirs_);
            v.add(on, theirs_);
        };
        serve(
            on, comm, v, round, [&](wire::bit_writer& sink) { write(sink, v); }, add,
            [&](wire::bit_reader& source) { take(source, v); }, [&] { session_.check_sum(on, v); });
    }
    void operator()(B& on, PointToPoint auto& comm, std::span<T> x, sum_round round = {}) {
        session_.make_room<T>(std::min(x.size(), d_));
        serve(
            on, comm, std::span<T const>(x), round, [&](wire::bit_writer& sink) { put_numbers(sink, x); },
            [&](wire::bit_reader& source) { detail::add_numbers(source, x); },
            [&](wire::bit_reader& source) { take_numbers(source, x); }, [&] { session_.check_sum(on, x, 0); });
    }

  private:
    void serve(B& on, PointToPoint auto& comm, auto const& mine, sum_round const& round, auto send, auto add, auto take,
               auto check) {
        session_.start(on, comm, round, mine, d_);
        if (comm.rank() != 0) {
            session_.send(comm, 0, send);
            session_.receive(comm, 0, take);
            return session_.finish();
        }
        for (int r = 1; r < comm.size(); ++r) session_.receive(comm, r, add);
        if (!session_.failed()) check();
        for (int r = 1; r < comm.size(); ++r) session_.send(comm, r, send);
        session_.finish();
    }

    sparse_sum<T, B> theirs_;
};

}  // namespace laconic
