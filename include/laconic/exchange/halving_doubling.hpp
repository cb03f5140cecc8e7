// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "laconic/exchange/conversation.hpp"
#include "laconic/exchange/partition.hpp"

namespace laconic {

/// The sum of dense vectors by recursive halving, in which partners exchange half of what they still add up, and
/// recursive doubling, in which they exchange all that is added up (Rabenseifner, ICCS 2004). 2 log2 P messages one
/// after another, 2 (P - 1) / P d numbers said by each rank. Where P is no power of two, the ranks from the largest
/// one, Q, on hand their d numbers to rank - Q before and are told the sum after: 2 messages and 2 d numbers more. Each
/// part is added up by one rank for all, in pairs at distance Q / 2, Q / 4, .., so that all get the same bits. Reuses
/// its memory.
template <Scalar T, class B = host>
class halving_doubling {
  public:
    /// For vectors of d numbers. Throws shape_error on all ranks where they do not call it with the same.
    template <Communicator C>
    halving_doubling(C& comm, std::size_t d) : halving_doubling(d) {
        detail::agree_on_exchange<T>(comm, d, to_string(*this));
    }
    /// The same for ranks that know that they agree on d, T and to_string of this.
    explicit halving_doubling(std::size_t d) : d_(d) { detail::check_dimension(d); }

    /// x <- the sum of all ranks' x. What the errors mean, see conversation::finish; then x is unspecified.
    template <PointToPoint C>
    void operator()(B& on, C& comm, std::span<T> x, std::uint64_t round = 0) {
        int const me = comm.rank(), paired = static_cast<int>(std::bit_floor(static_cast<unsigned>(comm.size())));
        bool const folds = comm.size() > paired;
        talk_.template make_room<T>(folds ? d_ : d_ / 2 + 1);
        talk_.start(round);
        talk_.check_input(on, me, std::span<T const>(x), d_);
        auto const say_all = [&](bit_writer& sink) { put_numbers(sink, x); };
        if (me >= paired) {
            talk_.say(comm, me - paired, say_all);
            talk_.hear(comm, me - paired, [&](bit_reader& source) { detail::take_numbers(source, x); });
            return talk_.finish();
        }
        if (me + paired < comm.size()) {
            talk_.hear(comm, me + paired, [&](bit_reader& source) { detail::add_numbers(source, x); });
            if (!talk_.in_trouble()) talk_.check_sum(on, std::span<T const>(x), 0);
        }
        sum_by_halves(on, comm, x, paired);
        if (me + paired < comm.size()) talk_.say(comm, me + paired, say_all);
        talk_.finish();
    }

    friend std::string to_string(halving_doubling const&) { return "halving_doubling"; }

  private:
    // Among ranks 0 .. q - 1, a power of two. Part r is added up by rank r.
    template <PointToPoint C>
    void sum_by_halves(B& on, C& comm, std::span<T> x, int q) {
        auto const me = static_cast<std::size_t>(comm.rank()), all = static_cast<std::size_t>(q);
        partition const parts{d_, all};
        auto const exchange = [&](std::size_t distance, std::size_t mine, std::size_t theirs, auto hear) {
            int const partner = static_cast<int>(me ^ distance);
            talk_.exchange(
                comm, partner, [&](bit_writer& sink) { put_numbers(sink, parts.of(x, mine, distance)); }, partner,
                [&](bit_reader& source) { hear(source, parts.of(x, theirs, distance)); });
        };
        for (std::size_t distance = all / 2; distance > 0; distance /= 2) {
            std::size_t const kept = me & ~(distance - 1);
            exchange(distance, kept ^ distance, kept, detail::add_numbers<T, bit_reader>);
            if (!talk_.in_trouble())
                talk_.check_sum(on, std::span<T const>(parts.of(x, kept, distance)), parts.first(kept));
        }
        for (std::size_t distance = 1; distance < all; distance *= 2) {
            std::size_t const mine = me & ~(distance - 1);
            exchange(distance, mine, mine ^ distance, detail::take_numbers<T, bit_reader>);
        }
    }

    std::size_t d_;
    conversation talk_;
};

}  // namespace laconic
