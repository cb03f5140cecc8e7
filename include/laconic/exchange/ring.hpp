// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "laconic/exchange/conversation.hpp"
#include "laconic/exchange/partition.hpp"

namespace laconic {

/// The sum of dense vectors by a ring (Patarasuk, Yuan, 2009): in P - 1 steps each part goes round and is added to, and
/// in P - 1 more it goes round as it is. 2 (P - 1) messages one after another, 2 (P - 1) / P d numbers said by each
/// rank, to within 2 (P - 1): the fewest that there can be. Part p is added up in the order of ranks p, p + 1, .., p -
/// 1, and by one rank for all, so that all get the same bits. Reuses its memory.
template <Scalar T, class B = host>
class ring {
  public:
    /// For vectors of d numbers. Throws shape_error on all ranks where they do not call it with the same.
    template <Communicator C>
    ring(C& comm, std::size_t d) : ring(d) {
        detail::agree_on_exchange<T>(comm, d, to_string(*this));
    }
    /// The same for ranks that know that they agree on d, T and to_string of this.
    explicit ring(std::size_t d) : d_(d) { detail::check_dimension(d); }

    /// x <- the sum of all ranks' x. What the errors mean, see conversation::finish; then x is unspecified.
    template <PointToPoint C>
    void operator()(B& on, C& comm, std::span<T> x, std::uint64_t round = 0) {
        auto const n = static_cast<std::size_t>(comm.size()), me = static_cast<std::size_t>(comm.rank());
        int const next = static_cast<int>((me + 1) % n), last = static_cast<int>((me + n - 1) % n);
        partition const parts{d_, n};
        talk_.template make_room<T>(d_ / n + 1);
        talk_.start(round);
        talk_.check_input(on, comm.rank(), std::span<T const>(x), d_);
        auto const pass_on = [&](std::size_t mine, std::size_t theirs, auto hear) {
            talk_.exchange(
                comm, next, [&](bit_writer& sink) { put_numbers(sink, parts.of(x, mine % n)); }, last,
                [&](bit_reader& source) { hear(source, parts.of(x, theirs % n)); });
        };
        for (std::size_t step = 0; step + 1 < n; ++step) {
            std::size_t const theirs = (me + 2 * n - step - 1) % n;
            pass_on(me + n - step, theirs, detail::add_numbers<T, bit_reader>);
            if (!talk_.in_trouble()) talk_.check_sum(on, std::span<T const>(parts.of(x, theirs)), parts.first(theirs));
        }
        for (std::size_t step = 0; step + 1 < n; ++step)
            pass_on(me + n + 1 - step, me + n - step, detail::take_numbers<T, bit_reader>);
        talk_.finish();
    }

    friend std::string to_string(ring const&) { return "ring"; }

  private:
    std::size_t d_;
    conversation talk_;
};

}  // namespace laconic
