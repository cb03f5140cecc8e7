// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "laconic/feedback/memory.hpp"
#include "laconic/transport/gathered.hpp"
#include "laconic/transport/summed.hpp"

namespace laconic::detail {

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
    }
    /// To be called on all ranks before the first mean.
    template <Communicator C>
    void start(C& comm) {
        transport_.start(comm);
    }

    /// x <- the mean of all ranks' x. fill_in(own) makes this rank's x, or sets its failure; what it throws becomes the
    /// failure, too, and so does a number that is not finite. Throws on every rank what a rank's failure is, naming
    /// that rank and the round, and what the transport throws; x is unspecified then. A collective call. Sends d
    /// numbers.
    template <Communicator C, class FillIn>
    void operator()(B& on, C& comm, round_context const& now, std::span<T> x, FillIn fill_in) {
        LACONIC_EXPECTS(x.size() == d_);
        own_ = failure::of_making(comm.rank(), now.round, [&] {
            failure own;
            fill_in(own);
            auto const j = first_non_finite(on, std::span<T const>(x));
            return own || j == d_ ? own : failure::not_finite(j);
        });
        if (!own_) identity{}(on, std::span<T const>(x), now.own, mine_);
        transport_.send(on, comm, now, mine_, own_);
        auto const blank = [&](auto& there, int, auto& m) { identity{}.blank(there, d_, key{}, m); };
        transport_.receive(on, comm, now, mine_, own_, blank, none_, x);
        transport_.reconstruct(on, comm, now, none_, x);
    }

    std::size_t dimension() const { return d_; }
    void require_consistent() const { transport_.require_consistent(); }
    void recover() { transport_.recover(); }
    template <class Archive>
    void state(Archive& archive) {
        transport_.state(archive);
    }

  private:
    transport_type transport_;
    std::size_t d_;
    memory<T, B> none_;
    message_type mine_;
    failure own_;
};

}  // namespace laconic::detail
