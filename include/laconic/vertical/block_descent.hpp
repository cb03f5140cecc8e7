// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "laconic/descent.hpp"
#include "laconic/vertical/local_blocks.hpp"

namespace laconic {

/// What an observer of block descent sees before a round: this party's block x_k, and z, what it knows of the sums of
/// all embeddings.
template <class P, Scalar T>
struct block_observation {
    std::uint64_t round;
    std::span<T const> x, z;
    block_work<P, T>* work;
    std::uint64_t batch;

    /// This party's part of f: the mean over the parties is f at the blocks of all, as far as their embeddings are
    /// known. Batches: of the samples of this round. Less a constant where slopes come from residuals (party.hpp). NaN
    /// where they are received, as only one party knows the loss then. A pass over z.
    double value() const {
        host on;
        return work->loss(on, batch, z) + work->when.parties * work->penalty(x);
    }
};

/// The loop of block descent on one rank (turn_schedule, local_blocks): descent, over vectors of one number for each
/// sample and output, whose estimator moves this party's block. Each rank makes one and calls the same members in the
/// same order. Each exchange is a transaction: where it throws, no block of it has moved, and it can be tried again.
template <class P, Communicator C, Scalar T, Recursion R>
class block_descent {
  public:
    static constexpr bool own_iterates = true;

    block_descent(R how, std::shared_ptr<block_work<P, T>> work, C& comm, std::span<T> x, on_growth growth)
        : work_(std::move(work)),
          x_(x),
          comm_(comm),
          watches_(std::same_as<decltype(R::compressor), identity> && work_->batch == 0 && growth != on_growth::ignore),
          halves_(growth == on_growth::halve_steps),
          sums_(std::make_unique<std::vector<T>>(work_->numbers())),
          run_(std::move(how), *work_, comm, std::span<T>(*sums_), work_->seed.bits) {}

    /// The first call exchanges the embeddings of the starting point, and is a collective call.
    block_observation<P, T> look() {
        if (run_.rounds() == 0) exchange(), watch();
        return {rounds(), x_, run_.x(), work_.get(), work_->when.batch(run_.rounds() - 1)};
    }
    /// One round. Throws what descent's throws, with the coordinates of the embeddings: sample times outputs, and
    /// output. Throws divergence_error, on all ranks and with the round made, as on_growth says: where f, penalties
    /// included, has grown by more than rounding over three rounds or more. The parties find that out by 24 bytes each,
    /// in rounds after which what all know of f has not fallen for three rounds.
    void round() {
        look();
        do exchange();
        while (!work_->when.ends_round(run_.rounds() - 1));
        watch();
    }
    std::uint64_t rounds() const { return work_->when.rounds(run_.rounds()); }
    std::span<T const> x() const { return x_; }
    /// The number of local steps, which on_growth::halve_steps may have changed.
    std::uint64_t local_steps() const { return work_->local_steps; }

    /// As in descent.
    std::vector<std::byte> save() const { return run_.save(); }
    void restore(std::span<std::byte const> saved) { run_.restore(saved); }

  private:
    void exchange() try { run_.round(); } catch (non_finite_error const& e) {
        throw non_finite_error(e.rank, rounds(), e.coordinate, "the embeddings");
    } catch (compression_error const& e) {
        throw compression_error(e.rank, rounds(), e.why);
    }
    // All ranks have the same z, so that all suspect the same; f is rank 0's loss and all penalties.
    void watch() {
        if (!watches_) return;
        host on;
        auto const z = run_.x();
        bool const received = work_->source == slope_source::received;
        double const known = received ? work_->half_mean_square(on, z) : work_->loss(on, 0, z);
        double own = work_->penalty(x_);
        if (work_->rank == 0) own += received ? work_->loss_of_sums() : known;
        if (!work_->guard.suspects(known, own)) return;
        auto const mine = work_->guard.evidence(work_->size * work_->when.parties);
        divergence_guard::parts all;
        detail::from_all(*comm_, mine, "its part of the function's value", [&](int, auto const& of) { all.add(of); });
        if (!work_->guard.template diverged<T>(all)) return;
        if (halves_ && work_->local_steps > 1)
            work_->local_steps /= 2;
        else
            throw divergence_error(rounds(), all.now, "take a smaller step, fewer local steps, or a larger prox");
    }

    std::shared_ptr<block_work<P, T>> work_;
    std::span<T> x_;
    detail::kept<C> comm_;
    bool watches_, halves_;
    std::unique_ptr<std::vector<T>> sums_;
    descent<R, block_work<P, T>, C, T> run_;
};

}  // namespace laconic
