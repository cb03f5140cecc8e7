// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/backend/host.hpp"
#include "laconic/collective/agreement.hpp"
#include "laconic/comm/communicator.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/round_context.hpp"
#include "laconic/core/text.hpp"
#include "laconic/descent.hpp"
#include "laconic/objective/objective.hpp"
#include "laconic/transport/shared_mean.hpp"
#include "laconic/wire/kind.hpp"
#include "laconic/wire/state.hpp"

namespace laconic {

/// What loops have in common that are no descent, on one rank, on the host: this rank's value and gradient at x, the
/// agreement of all ranks before the first round, and saved states. D derives from it and has, besides round(),
///   state(archive)     all of the state on which the next rounds depend, loop_base::state(archive) first;
///   require_whole()    throws comm_error where other ranks may have gone on without this one, until make_whole().
template <class D, class F, Communicator C, Scalar T>
class loop_base {
    static_assert(detail::require_objective<F, T>());

  public:
    /// Computes this rank's value and gradient at x^k, unless it has them; the next round() uses them. What the
    /// objective throws passes through, and then nothing has changed.
    observation<F, T> look() {
        self().require_whole();
        if (!looked_)
            value_ = static_cast<double>(evaluate(*objective_, std::span<T const>(x_), std::span<T>(gradient_)));
        looked_ = true;
        return {round_, x_, gradient_, objective_, value_};
    }
    /// The state of this rank on which the next rounds depend, for restore(). Call it between rounds.
    std::vector<std::byte> save() const {
        auto& me = const_cast<loop_base&>(*this).self();  // state() only reads here
        me.require_whole();
        state_writer archive(identity());
        me.state(archive);
        return archive.finish();
    }
    /// Restores the state of a run with the same settings, seed, rank and number of ranks; the next rounds are then the
    /// same, bit for bit. Throws shape_error for another run's state, wire_error for damaged bytes; then nothing has
    /// changed.
    void restore(std::span<std::byte const> saved) {
        state_reader archive(saved, identity(), x_.size());
        self().state(archive);
        archive.rewind();
        self().state(archive);
        looked_ = false;
        self().make_whole();
    }
    std::uint64_t rounds() const { return round_; }
    std::span<T const> x() const { return x_; }

  protected:
    /// Throws shape_error where x, which is moved in place and must outlive this, has not the objective's dimension.
    loop_base(F const& objective, C& comm, std::span<T> x, std::uint64_t seed)
        : objective_(&objective), comm_(&comm), x_(x), seed_{seed}, gradient_(x.size()) {
        if (x.size() != static_cast<std::size_t>(objective.dimension()))
            throw shape_error(
                detail::concat({"x has ", x.size(), " numbers, the objective's dimension is ", objective.dimension()}));
        check_dimension(x.size());
    }
    /// Throws shape_error on every rank where ranks disagree on the method with all its settings, the dimension, the
    /// seed or the starting point.
    void agree(std::string const& method) {
        items_ = {{"the method", method},
                  {"the dimension", x_.size()},
                  {"the bytes of a number", sizeof(T)},
                  {"the version of the wire format", wire_version},
                  {"the seed", seed_.bits}};
        auto agreed = items_;
        agreed.add({"the starting point", digest(std::as_bytes(std::span<T const>(x_)))});
        agreed.add({"one process", detail::in_one_process(*comm_) ? "yes" : "no"});
        require_agreement(*comm_, agreed);
    }
    round_context now() const { return round_context::of(seed_, round_, comm_->rank(), comm_->size()); }
    template <class Archive>
    void state(Archive& archive) {
        archive(round_);
        archive.span_there(x_);
    }

    F const* objective_;
    C* comm_;
    std::span<T> x_;
    key seed_;
    host on_;
    host::array<T> gradient_;  // this rank's, and its value, where looked_
    double value_ = 0;
    bool looked_ = false;
    std::uint64_t round_ = 0;

  private:
    D& self() { return static_cast<D&>(*this); }
    std::string identity() const {
        return detail::concat({items_.lines(), "rank ", comm_->rank(), " of ", comm_->size(), "\n"});
    }

    agreed_items items_;
};

}  // namespace laconic
