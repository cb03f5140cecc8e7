// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "laconic/core/description.hpp"
#include "laconic/descent.hpp"
#include "laconic/objective/objective.hpp"
#include "laconic/wire/state.hpp"

namespace toys {

/// A method with a loop of its own: each rank's x goes half of the way to its own minimum, and then a share of it to
/// its left neighbour's x.
struct pulled_left {
    double share = 0.5;

    bool operator==(pulled_left const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("pulled_left", "x half of the way to its own minimum, then towards its left neighbour's", "",
                 laconic::field("share", &pulled_left::share).between(0, 1));
    }

    template <class F, class C>
    class loop {
      public:
        static constexpr bool own_iterates = true;

        loop(double share, F const& f, C& comm, std::span<double> x) : share_(share), f_(&f), comm_(&comm), x_(x) {}
        laconic::observation<F, double> look() const { return {rounds_, x_, {}, f_, {}}; }
        void round() {
            std::vector<double> g(x_.size());
            f_->gradient(x_, g);
            for (std::size_t i = 0; i < g.size(); ++i) x_[i] -= g[i] / (2 * f_->smoothness());
            int const n = comm_->size(), me = comm_->rank();
            auto const left = comm_->exchange((me + 1) % n, {std::as_bytes(x_)}, (me + n - 1) % n);
            std::memcpy(g.data(), left.bytes.data(), left.bytes.size());
            for (std::size_t i = 0; i < g.size(); ++i) x_[i] += share_ * (g[i] - x_[i]);
            ++rounds_;
        }
        std::uint64_t rounds() const { return rounds_; }
        std::span<double const> x() const { return x_; }
        std::vector<std::byte> save() const {
            laconic::wire::state_writer archive("pulled_left");
            auto& self = const_cast<loop&>(*this);
            archive(self.rounds_), archive.span_there(self.x_);
            return archive.finish();
        }
        void restore(std::span<std::byte const> saved) {
            laconic::wire::state_reader archive(saved, "pulled_left");
            for (int walk = 0; walk < 2; ++walk) {
                archive(rounds_), archive.span_there(x_);
                if (walk == 0) archive.rewind();
            }
        }
        template <class Comm>
        double value_at_mean(Comm& comm) const {
            std::vector<double> mean(x_.size());
            comm.all_gather({std::as_bytes(x_)});
            for (int r = 0; r < comm.size(); ++r) {
                std::vector<double> theirs(x_.size());
                std::memcpy(theirs.data(), comm.from(r).bytes.data(), 8 * theirs.size());
                for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += theirs[i] / comm.size();
            }
            return f_->value(mean);
        }

      private:
        double share_;
        F const* f_;
        C* comm_;
        std::span<double> x_;
        std::uint64_t rounds_ = 0;
    };
    template <class F, class C>
    auto start(laconic::problem const&, F const& f, C& comm, std::span<double> x, std::uint64_t) const {
        return loop<F, C>(share, f, comm, x);
    }
};

}  // namespace toys
