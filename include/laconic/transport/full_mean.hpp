// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <vector>

#include "laconic/feedback/memory.hpp"
#include "laconic/transport/gathered.hpp"
#include "laconic/transport/summed.hpp"

namespace laconic::detail {

/// Why a rank has no x in this round: what fill_in(own), which makes x, sets or throws, or a number that is not finite,
/// which is named by its place in its vector, of d numbers.
template <class B, Scalar T>
failure failure_of_filling(B& on, int rank, std::uint64_t round, std::span<T> x, std::size_t d, auto fill_in) {
    return failure::of_making(rank, round, [&] {
        failure own;
        fill_in(own);
        auto const j = first_non_finite(on, std::span<T const>(x));
        return own || j == x.size() ? own : failure::not_finite(j % d);
    });
}

/// The mean over all ranks of vectors of d numbers in full, with the same bits on all ranks, by the transport X:
/// gather_all{}, served<identity>{}, or a collective that applies the whole sum, such as ring{}. For loops that send
/// more than one vector in a round. Reuses its memory: two vectors.
template <class X = gather_all, Scalar T = double, class B = host>
class full_mean {
  public:
    using message_type = messages::full_vector<T, B>;
    using transport_type = transport_for<X, message_type, T, B>;

    /// Throws argument_error where the transport does not suit vectors of d numbers, or leaves something out.
    full_mean(X const& over, std::size_t d, position_code positions = position_code::smallest)
        : transport_(over, d, positions), d_(d) {
        transport_.require_beside(none_, "a mean in full");
        if (transport_.is_robust()) throw argument_error({"a mean in full is not made by ", to_string(over)});
    }
    /// To be called on all ranks before the first mean.
    void start(Communicator auto& comm) { transport_.start(comm); }

    /// x <- the mean of all ranks' x. fill_in(own) makes this rank's x, or sets its failure; what it throws becomes the
    /// failure, too, and so does a number that is not finite. Throws on every rank what a rank's failure is, naming
    /// that rank and the round, and what the transport throws; x is unspecified then. A collective call. Sends d
    /// numbers.
    void operator()(B& on, Communicator auto& comm, round_context const& now, std::span<T> x, auto fill_in) {
        LACONIC_EXPECTS(x.size() == d_);
        own_ = failure_of_filling(on, comm.rank(), now.round, x, d_, fill_in);
        if (!own_) identity{}(on, std::span<T const>(x), now.own, mine_);
        transport_.send(on, comm, now, mine_, own_);
        auto const blank = [&](auto& there, int, auto& m) { return identity{}.blank(there, d_, key{}, m), identity{}; };
        transport_.receive(on, comm, now, mine_, own_, blank, none_, x);
        transport_.reconstruct(on, comm, now, none_, x);
    }

    std::size_t dimension() const { return d_; }
    void require_consistent() const { transport_.require_consistent(); }
    void recover() { transport_.recover(); }
    void state(auto& archive) { transport_.state(archive); }

  private:
    transport_type transport_;
    std::size_t d_;
    memory<T, B> none_;
    message_type mine_;
    failure own_;
};

/// The mean over all ranks of m vectors of d numbers in full, of which each rank gets one P-th of the coordinates, and
/// the way back: a vector of which each rank has that part. Over any communicator, by P gathers. Added up in the order
/// of ranks. Reuses its memory.
template <Scalar T = double>
class parts_of_mean {
  public:
    parts_of_mean(std::size_t d, std::size_t m) : d_(d), m_(m) {}

    /// The part of this rank, of a vector.
    template <Communicator C, class E>
    std::span<E> part(C const& comm, std::span<E> x) const {
        return parts(comm).of(x, static_cast<std::size_t>(comm.rank()));
    }
    /// x <- on each rank, in its part of each of the m vectors, their mean; what is in the other parts stays.
    /// fill_in(own) makes this rank's x, or sets its failure; what it throws becomes the failure, too, and so does a
    /// number that is not finite, which is named by its place in its vector. Throws on every rank what a rank's failure
    /// is. Bytes that are no numbers one rank alone receives: it throws nothing yet, and the next raise() does. A
    /// collective call. Sends (P - 1) / P m d numbers.
    void scatter(host& on, Communicator auto& comm, round_context const& now, std::span<T> x, auto fill_in) {
        LACONIC_EXPECTS(x.size() == m_ * d_);
        worst_ = unreadable_ = {};
        own_ = failure_of_filling(on, comm.rank(), now.round, x, d_, fill_in);
        for (int root = 0; root < comm.size(); ++root) {
            sink_.clear();
            if (root != comm.rank() && !own_)
                for (std::size_t j = 0; j < m_; ++j) put_numbers(sink_, part_of(comm, x, j, root));
            comm.gather(root, own_ ? own_.sent(sink_) : payload{sink_.finish()});
            if (root == comm.rank()) receive(on, comm, x);
        }
        worst_.raise();
    }
    /// Throws wire_error where this rank has received bytes that are no numbers in the last scatter().
    void raise() const { unreadable_.raise(); }
    /// x <- all of it, of which each rank has its part. Throws wire_error on all ranks. A collective call. Sends d / P
    /// numbers.
    void gather(Communicator auto& comm, std::span<T> x) {
        LACONIC_EXPECTS(x.size() == d_);
        sink_.clear();
        put_numbers(sink_, part_of(comm, x, 0, comm.rank()));
        comm.all_gather({sink_.finish()});
        for (int r = 0; r < comm.size(); ++r) {  // this rank's too: what is not finite all ranks refuse
            auto const part = part_of(comm, x, 0, r);
            read_bytes_from(comm, r, [&](wire::bit_reader& source) { take_numbers(source, part); });
        }
    }

  private:
    partition parts(Communicator auto const& comm) const { return {d_, static_cast<std::size_t>(comm.size())}; }
    std::span<T> part_of(Communicator auto const& comm, std::span<T> x, std::size_t j, int r) const {
        return parts(comm).of(x.subspan(j * d_, d_), static_cast<std::size_t>(r));
    }
    // This rank's turn: what all have sent to it.
    void receive(host& on, Communicator auto& comm, std::span<T> x) {
        worst_ = least_failure(comm);
        if (worst_) return;
        auto const mine = parts(comm).length(static_cast<std::size_t>(comm.rank()));
        sum_.assign(m_ * mine, T(0));
        std::span<T> const sum(sum_);
        T const share = T(1) / static_cast<T>(comm.size());
        try {
            for (int r = 0; r < comm.size(); ++r) {
                if (r == comm.rank())
                    for (std::size_t j = 0; j < m_; ++j)
                        add_scaled(on, share, std::span<T const>(part_of(comm, x, j, r)), sum.subspan(j * mine, mine));
                else
                    read_bytes_from(comm, r, [&](auto& source) { wire::add_numbers<host, T>(on, source, share, sum); });
            }
        } catch (wire_error const&) {
            unreadable_ = failure::of(std::current_exception(), comm.rank());
            return;
        }
        for (std::size_t j = 0; j < m_; ++j)
            copy(on, std::span<T const>(sum.subspan(j * mine, mine)), part_of(comm, x, j, comm.rank()));
    }

    std::size_t d_, m_;
    wire::bit_writer sink_;
    std::vector<T> sum_;
    failure own_, worst_, unreadable_;
};

}  // namespace laconic::detail
