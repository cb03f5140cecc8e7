// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "laconic/backend/array.hpp"
#include "laconic/collective/select/gtop_k.hpp"
#include "laconic/collective/session.hpp"
#include "laconic/collective/terms/sparse_sum_on_device.hpp"
#include "laconic/comm/array_carrier.hpp"
#include "laconic/core/portion.hpp"
#include "laconic/core/text.hpp"

namespace laconic::detail {

/// gTop-k of lists that stay in a device's memory: the tree, the terms and the bits are those of gtop_k on the host,
/// over a communicator that carries arrays. On each of the ceil(log2 P) levels all ranks meet, to tell how many terms
/// they have, or what is wrong: for this they wait. Then the terms go to those who merge, in the order of the kernels.
/// What is left at rank 0 goes to all at once. A merge waits for the length of its sum. Reuses its memory.
template <Scalar T, class B>
requires(!OnHost<B>) class gtop_k_algorithm<T, B> {
  public:
    /// As on the host.
    gtop_k_algorithm(std::size_t d, std::size_t k, left_out goes = left_out::to_merger,
                     position_code = position_code::smallest)  // no positions are encoded
        : d_(d), k_(k), goes_(goes) {
        check_dimension(d);
    }

    /// v <- the terms that are applied, the same on all ranks; each brings its own v. What the errors mean, see
    /// session::finish: all but those of the communicator are thrown on all ranks. Then v and leftover() are
    /// unspecified.
    template <ArrayCarrier<B> C>
    void operator()(B& on, C& comm, sparse_sum<T, B>& v, std::uint64_t round = 0) {
        comm.require_stream_of(on);
        int const me = comm.rank();
        make_room(on, v, comm.size());
        session_.start(round);
        session_.check_input(on, me, v, d_);
        leftover_.reset(d_);
        if (goes_ == left_out::as_published && !session_.failed()) brought_.assign(on, v);
        if (!session_.failed()) v.keep_largest(on, k_, leftover_);
        for (int distance = 1; distance < comm.size(); distance *= 2) {
            tell_lengths(comm, v.size());
            merge_level(on, comm, distance, v);
        }
        tell_lengths(comm, v.size());
        if (me != 0) v.expect(d_, lengths_[0]);
        comm.together([&] {
            comm.spread(0, read(v.support()), v.support());
            comm.spread(0, read(v.values()), v.values());
        });
        if (goes_ == left_out::as_published) leftover_.assign_without(on, brought_, v);
    }

    /// What this rank keeps, to be sent later, as on the host.
    sparse_sum<T, B> const& leftover() const { return leftover_; }

  private:
    template <class E>
    static std::span<E const> read(std::span<E> x) {
        return x;
    }
    // Once: later sums may be longer.
    void make_room(B& on, sparse_sum<T, B>& v, int ranks) {
        auto const kept = std::min(k_, d_);
        theirs_.reserve(on, kept);
        v.reserve(on, std::min(2 * kept, d_));
        auto const own = v.room();
        if (goes_ == left_out::as_published) brought_.reserve(on, own);
        leftover_.reserve(on, std::min(own + static_cast<std::size_t>(std::bit_width(unsigned(ranks))) * kept, d_));
        lengths_.resize(static_cast<std::size_t>(ranks));
    }
    // All learn all lengths, or all throw what is wrong on any, before any memory is asked for.
    template <class C>
    void tell_lengths(C& comm, std::size_t n) {
        auto const mine = std::uint64_t{n};
        session_.confer(comm, std::as_bytes(std::span(&mine, 1)));
        session_.finish();
        for (std::size_t r = 0; r < lengths_.size(); ++r) {
            auto const received = comm.from(static_cast<int>(r)).bytes;
            if (received.size() != sizeof mine) throw wire_error(0, concat({"from rank ", r, ": no length"}));
            std::memcpy(&lengths_[r], received.data(), sizeof mine);
            if (lengths_[r] > std::min(k_, d_))
                throw wire_error(0, concat({"from rank ", r, ": a list of ", lengths_[r],
                                            " terms, where no rank has more than ", std::min(k_, d_)}));
        }
    }
    // A rank whose lowest bit is the distance hands over, and has nothing to merge from then on.
    template <class C>
    void merge_level(B& on, C& comm, int distance, sparse_sum<T, B>& v) {
        int const me = comm.rank(), above = me % (2 * distance);
        bool const merges = above == 0 && me + distance < comm.size();
        if (merges) theirs_.expect(d_, lengths_[static_cast<std::size_t>(me + distance)]);
        comm.together([&] {
            if (above == distance) {
                comm.send(me - distance, read(v.support()));
                comm.send(me - distance, read(v.values()));
            } else if (merges) {
                comm.receive(me + distance, theirs_.support());
                comm.receive(me + distance, theirs_.values());
            }
        });
        if (!merges) return;
        v.add(on, theirs_);
        session_.check_sum(on, v);
        if (session_.failed()) return;
        v.keep_largest(on, k_, leftover_);
        if (goes_ == left_out::to_merger) session_.check_sum(on, leftover_);  // it adds up over the merges
    }

    std::size_t d_, k_;
    left_out goes_;
    session session_;
    std::vector<std::uint64_t> lengths_;
    sparse_sum<T, B> theirs_, brought_, leftover_;
};

}  // namespace laconic::detail
