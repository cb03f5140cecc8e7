// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <vector>

#include "laconic/collective/collective.hpp"
#include "laconic/collective/parts.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/wire/bucketed_kinds.hpp"

namespace laconic {

/// split_all_gather with a second stage of compressed dense parts (SparCML's DSAR with low precision, Renggli et al.,
/// SC 2019: QSGD of 2, 4 or 8 bits, buckets of 1024): the rank that has added up a part sends C's message about it,
/// with a key of the round and the part, and all take that. With an unbiased compressor E(what is applied) = the sum.
/// What is left, sum - sent, returns to the rank that added up: the sum of what is brought = what is applied + the sum
/// of what is returned, to within one rounding. P - 1 + ceil(log2 P) messages; a rank sends about (P - 1) / P of its k
/// terms and of a message about d numbers. All get the same bits. Any P. Include the wire/ header of C's messages.
template <class C>
struct compressed_split_all_gather {
    C compressor{};
    std::uint64_t seed = 0;

    static constexpr void description(auto&& describe) {
        describe("split_all_gather", "sparse, compressed", "",
                 field("then", &compressed_split_all_gather::compressor).needed(),
                 field("seed", &compressed_split_all_gather::seed));
    }
    void check(std::size_t d) const { compressor.check(d); }
    template <Scalar T, OnHost B = host>
    requires Compressor<C, T, B> && messages::TermMessage<detail::message_of<C, T, B>>
    class adder;
    bool operator==(compressed_split_all_gather const&) const = default;
};
template <class C>
compressed_split_all_gather(C, std::uint64_t = 0) -> compressed_split_all_gather<C>;

template <class C>
template <Scalar T, OnHost B>
requires Compressor<C, T, B> && messages::TermMessage<detail::message_of<C, T, B>>
class compressed_split_all_gather<C>::adder : detail::sum_in_session {
  public:
    adder(compressed_split_all_gather const& how, std::size_t d, position_code positions)
        : sum_in_session(how, d, positions), compressor_(how.compressor), from_{how.seed} {}

    /// v <- the sum of all ranks' v as the messages have it, those numbers that are not 0. Throws argument_error, too,
    /// where the compressor does not suit parts of d / P numbers, or has no message about a sum. After an error
    /// leftover() is unspecified.
    void operator()(B& on, PointToPoint auto& comm, sparse_sum<T, B>& v, sum_round round = {}) {
        auto const n = static_cast<std::size_t>(comm.size()), me = static_cast<std::size_t>(comm.rank());
        detail::partition const ranges{d_, n};
        for (auto const length : {d_ / n, d_ / n + (d_ % n != 0)}) compressor_.check(length);
        session_.make_room<T>(d_);  // messages are about all numbers of a part
        messages_.resize(n);
        leftover_.reserve(on, std::min(detail::most_terms_of_sum(v, d_, n), d_ / n + 1));
        detail::split_and_add(on, comm, session_, ranges, v, round, sum_, piece_, lists_);
        key const now = from_.child(round.number);
        for (std::size_t p = 0; p < n; ++p)
            if (p != me) compressor_.blank(on, ranges.length(p), now.child(p), messages_[p]);
        if (!session_.failed()) compress(on, comm.rank(), now.child(me));
        detail::all_gather_parts(on, comm, session_, messages_, compressor_);
        session_.finish();
        v.reset(d_);
        for (std::size_t p = 0; p < n; ++p) {
            auto const terms = messages_[p].terms();
            for (std::size_t j = 0; j < terms.size(); ++j)
                if (auto const t = terms[j]; t.value != 0) v.append(ranges.first(p) + t.at, static_cast<T>(t.value));
        }
        add_message(on, std::span<T>(numbers_), T(-1), messages_[me]);
        leftover_.reset(d_);
        for (std::size_t i = 0; i < numbers_.size(); ++i)
            if (numbers_[i] != 0) leftover_.append(ranges.first(me) + i, numbers_[i]);
    }

    /// What this rank keeps, to be sent later: of the part that it added up, the sum less what it sent.
    sparse_sum<T, B> const& leftover() const { return leftover_; }

  private:
    void compress(B& on, int rank, key from) {
        numbers_.resize(sum_.dimension());
        sum_.write_out(on, numbers_);
        try {
            compressor_(on, std::span<T const>(numbers_), from, messages_[static_cast<std::size_t>(rank)]);
        } catch (std::exception const& e) {
            session_.give_up(rank, e.what());
        }
    }

    C compressor_;
    key from_;
    std::vector<detail::message_of<C, T, B>> messages_;
    typename B::template array<T> numbers_;
    sparse_sum<T, B> sum_, piece_, leftover_;
    detail::gathered_lists<T, B> lists_;
};

}  // namespace laconic
