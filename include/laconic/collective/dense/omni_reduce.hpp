// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "laconic/collective/collective.hpp"
#include "laconic/packet/omni_blocks.hpp"

namespace laconic {

/// The sum of dense vectors whose zeros come in blocks (OmniReduce, Fei et al., SIGCOMM 2021): blocks of which every
/// number is 0 are not sent. Every rank adds up one P-th of the blocks for all. Where nothing is lost and messages are
/// of any length, the stream of omni_machine comes down to two messages: which blocks are not zero, with their numbers,
/// to those who add them up, and their sums to all. 2 (P - 1) messages, half of them under way at once, for each of up
/// to 8 chunks of 2^17 max(P, 8) numbers or more. A rank with b blocks that are not zero, of u on all ranks, sends
/// about (P - 1) / P (b + u), and at most a bit for each block of the vector. Sums are added up in the order of ranks,
/// from 0 on, by one rank for all: the same bits for all, and those where zero blocks are sent, too. A block that no
/// rank has is not touched: a -0 in it stays. Memory beside x: what is sent and received, and 4 bytes a block.
struct omni_reduce {
    std::size_t block = 256;

    static constexpr void description(auto&& describe) {
        describe("omni_reduce", "dense, without the blocks that are 0", "OmniReduce, SIGCOMM 2021",
                 field("block", &omni_reduce::block).between(1, 0x1p32).written());
    }
    void check(std::size_t d) const { detail::omni_blocks{d, block}.check(); }
    template <Scalar T, OnHost B = host>
    class adder;
    bool operator==(omni_reduce const&) const = default;
};

template <Scalar T, OnHost B>
class omni_reduce::adder {
  public:
    adder(omni_reduce const& how, std::size_t d, position_code) : blocks_{d, how.block} {}

    /// x is as it was where some rank's x is not for this round.
    void operator()(B& on, PointToPoint auto& comm, std::span<T> x, sum_round round = {}) {
        auto const n = static_cast<std::size_t>(comm.size()), me = static_cast<std::size_t>(comm.rank());
        auto const other = [&](std::size_t step) { return static_cast<int>((me + step) % n); };
        deal_ = {blocks_.count(), n};
        chunks_ = {deal_.rows(), detail::omni_chunks(blocks_.d, n)};
        session_.start(round);
        mine_.clear();
        mine_ends_.clear();
        // All that is for others is under way before any of theirs is awaited.
        for (std::size_t c = 0; c < chunks_.parts; ++c) {
            list_own(on, comm.rank(), x, c);
            for (std::size_t step = 1; step < n; ++step) {
                auto const to = static_cast<std::size_t>(other(step));
                if (!session_.failed())
                    encode(c, rows_of(to), [&](std::size_t row) { return blocks_.of(x, deal_.block_of(to, row)); });
                session_.send_bytes(comm, other(step), encoded_.finish());
            }
        }
        if (n == 1) return session_.finish();
        start_sums();
        for (std::size_t c = 0; c < chunks_.parts; ++c) {
            auto const before = rows_.size();
            sum_up(on, comm, x, c);
            if (!session_.failed())
                encode(c, std::span(rows_).subspan(before),
                       [&](std::size_t row) { return std::span<T const>(sum_of(me, row)); });
            auto const bytes = encoded_.finish();
            for (std::size_t step = 1; step < n; ++step) session_.send_bytes(comm, other(step), bytes);
        }
        // Now all know what anybody brought: from here on x may change.
        for (std::size_t c = 0; c < chunks_.parts; ++c)
            for (std::size_t r = 0; r < n; ++r)
                if (r != me)
                    session_.receive(comm, static_cast<int>(r), [&](wire::bit_reader& source) {
                        auto const room = [&](std::size_t row) { return blocks_.of(x, deal_.block_of(r, row)); };
                        read(on, source, r, c, room, detail::no_calls{});
                    });
        session_.finish();
        for (auto const row : rows_) {
            auto const sum = sum_of(me, row);
            std::copy(sum.begin(), sum.end(), blocks_.of(x, deal_.block_of(me, row)).begin());
        }
    }

  private:
    static constexpr coordinate nowhere = static_cast<coordinate>(detail::largest_dimension);

    // The rows of a chunk's blocks that are not zero, first those of part 0, and where each part's begin. One pass over
    // x, and one over what is not zero.
    void list_own(B& on, int rank, std::span<T> x, std::size_t c) {
        own_.clear();
        starts_.assign(deal_.parts + 1, 0);
        if (session_.failed()) return;
        if (x.size() != blocks_.d) return session_.check_input(on, rank, x, blocks_.d);
        auto const first_block = chunks_.first(c) * deal_.parts,
                   last_block = std::min(chunks_.first(c + 1) * deal_.parts, deal_.blocks);
        auto const first = blocks_.first(first_block), last = std::min(blocks_.first(last_block), blocks_.d);
        select_nonzero_blocks(on, std::span<T const>(x).subspan(first, last - first), blocks_.block, found_);
        for (auto& b : found_) {
            b += static_cast<coordinate>(first_block);
            auto const part = blocks_.of(std::span<T const>(x), b);
            // A block that is not finite makes the whole error frame: its first coordinate is the vector's.
            if (first_non_finite(on, part) < part.size()) return session_.check_input(on, rank, x, blocks_.d);
            ++starts_[deal_.part_of(b) + 1];
        }
        for (std::size_t p = 0; p < deal_.parts; ++p) starts_[p + 1] += starts_[p];
        own_.reserve((chunks_.length(0) + 1) * deal_.parts);
        own_.resize(found_.size());
        next_.assign(starts_.begin(), starts_.end());
        for (auto const b : found_) own_[next_[deal_.part_of(b)]++] = static_cast<coordinate>(deal_.row_of(b));
        auto const mine = rows_of(static_cast<std::size_t>(rank));
        mine_.reserve(deal_.rows());
        mine_.insert(mine_.end(), mine.begin(), mine.end());
        mine_ends_.push_back(mine_.size());
    }
    std::span<coordinate const> rows_of(std::size_t part) const {
        return std::span(own_).subspan(starts_[part], starts_[part + 1] - starts_[part]);
    }

    // How many rows of a chunk, which, and the numbers of their blocks.
    void encode(std::size_t c, std::span<coordinate const> rows, auto numbers) {
        auto const most = chunks_.length(0) + 1;  // rows
        encoded_.reserve(most * blocks_.longest() * sizeof(T) + most / 8 + 64);
        encoded_.clear();
        put_whole(encoded_, rows.size());
        listed_.resize(rows.size());
        std::transform(rows.begin(), rows.end(), listed_.begin(),
                       [first = static_cast<coordinate>(chunks_.first(c))](coordinate row) { return row - first; });
        write_support(encoded_, chunks_.length(c), std::span<coordinate const>(listed_));
        std::size_t n = 0;
        for (auto const row : rows) n += numbers(row).size();
        auto to = encoded_.append(n * sizeof(T)).data();
        for (auto const row : rows) {
            std::span<T const> const part = numbers(row);
            detail::store_numbers(to, part);
            to += part.size_bytes();
        }
    }
    // Puts the numbers of a part's blocks into room(row), and calls placed(row, numbers).
    void read(B& on, wire::bit_reader& source, std::size_t part, std::size_t c, auto room, auto placed) {
        auto const first = chunks_.first(c), length = chunks_.length(c);
        listed_.resize(detail::as_size(take_whole(source, length)));
        read_support(source, length, std::span<coordinate>(listed_));
        if (!listed_.empty() && deal_.block_of(part, first + listed_.back()) >= deal_.blocks)
            source.refuse("a block beyond the last");
        for (auto const row_in_chunk : listed_) {
            auto const row = first + row_in_chunk;
            auto const numbers = room(row);
            detail::load_numbers(source.take_bytes(numbers.size_bytes()).data(), numbers);
            if (first_non_finite(on, std::span<T const>(numbers)) < numbers.size())
                source.refuse("a number that is not finite");
            placed(row, std::span<T const>(numbers));
        }
    }

    void start_sums() {
        places_.assign(deal_.rows(), nowhere);
        rows_.clear();
        rows_.reserve(deal_.rows());
        listed_.reserve(chunks_.length(0) + 1);
        sums_.clear();
        sums_.reserve(deal_.rows() * blocks_.longest());
        incoming_.resize(blocks_.longest());
    }
    // A chunk of this rank's part, in the order of ranks; behind rows_ come those that anybody has.
    void sum_up(B& on, PointToPoint auto& comm, std::span<T const> x, std::size_t c) {
        auto const me = static_cast<std::size_t>(comm.rank());
        auto const add = [&](std::size_t row, std::span<T const> numbers) {
            if (places_[row] == nowhere) {
                places_[row] = static_cast<coordinate>(sums_.size() / std::max<std::size_t>(1, blocks_.longest()));
                sums_.resize(sums_.size() + blocks_.longest());
            }
            add_scaled(on, T(1), numbers, sum_of(me, row));
        };
        for (int r = 0; r < comm.size(); ++r) {
            if (r != comm.rank())
                session_.receive(comm, r, [&](wire::bit_reader& source) {
                    auto const room = [&](std::size_t row) {
                        return std::span(incoming_).first(blocks_.length(deal_.block_of(me, row)));
                    };
                    read(on, source, me, c, room, add);
                });
            else if (!session_.failed())
                for (std::size_t j = c == 0 ? 0 : mine_ends_[c - 1]; j < mine_ends_[c]; ++j)
                    add(mine_[j], blocks_.of(x, deal_.block_of(me, mine_[j])));
        }
        if (session_.failed()) return;
        for (std::size_t row = chunks_.first(c); row < chunks_.first(c + 1); ++row) {
            if (places_[row] == nowhere) continue;
            rows_.push_back(static_cast<coordinate>(row));
            session_.check_sum(on, sum_of(me, row), blocks_.first(deal_.block_of(me, row)));
        }
    }
    std::span<T> sum_of(std::size_t part, std::size_t row) {
        return std::span(sums_).subspan(places_[row] * blocks_.longest(), blocks_.length(deal_.block_of(part, row)));
    }

    detail::omni_blocks blocks_;
    detail::omni_deal deal_{0, 1};
    detail::partition chunks_{0, 1};  // of rows
    session session_;
    wire::bit_writer encoded_;
    std::vector<coordinate> found_, own_, mine_, listed_, rows_, places_;
    std::vector<std::size_t> starts_, next_, mine_ends_;
    std::vector<T> sums_, incoming_;
};

}  // namespace laconic
