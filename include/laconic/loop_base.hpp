// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/backend/host.hpp"
#include "laconic/collective/agreement.hpp"
#include "laconic/core/round_context.hpp"
#include "laconic/objective/objective.hpp"
#include "laconic/transport/gathered.hpp"
#include "laconic/wire/kind.hpp"
#include "laconic/wire/state.hpp"

namespace laconic {

/// The argument of an observer: the iterate x^k before round k, and this rank's own estimate of its gradient there.
template <class F, Scalar T>
struct observation {
    std::uint64_t round;
    std::span<T const> x, gradient;
    F const* objective;
    std::optional<double> known_value;

    /// f_i(x^k), for this rank's f_i; costs a pass over the data unless it came with the gradient.
    double value() const { return known_value ? *known_value : static_cast<double>(objective->value(x)); }
};

/// What the loops of recursions, of decentralized/ and of second_order/ have in common, on one rank: the agreement of
/// all ranks before the first round, this rank's gradient at x, and saved states. D derives from it; its constructor
/// calls agree(), which is a collective call. It has, besides round(),
///   state(archive)     all of the state on which the next rounds depend, but the round and x, which are here;
///   require_consistent()    throws comm_error where other ranks may have gone on without this one, until recover(),
///                      which restore() calls last;
///   estimate()         in place of the one here, where delta_ is to be another estimate than the gradient in full.
/// Where these members are private, loop_base<D, F, C, T, B> is a friend of D.
template <class D, class F, Communicator C, Scalar T, class B = host>
class loop_base {
    static_assert(detail::require_objective<F, T>());

  public:
    /// Estimates this rank's gradient at x^k, unless it has done so; the next round() uses it. What the objective
    /// throws passes through, and then nothing has changed. Throws comm_error where other ranks may have gone on.
    observation<F, T> look() {
        self().require_consistent();
        if (!looked_) value_ = self().estimate();
        looked_ = true;
        return {round_, x_, delta_, &*objective_, value_};
    }
    /// The state of this rank on which the next rounds depend, for restore(). Call it between rounds. Throws comm_error
    /// where other ranks may have gone on.
    [[gnu::cold, gnu::noinline]] std::vector<std::byte> save() const {
        auto& me = const_cast<loop_base&>(*this);  // state() only reads here
        me.self().require_consistent();
        wire::state_writer archive(identity(), me.on_);
        me.all_state(archive);
        return archive.finish();
    }
    /// Restores the state of a run with the same settings, seed, rank and number of ranks; the next rounds are then the
    /// same, bit for bit. Throws shape_error for another run's state, wire_error for damaged bytes; then nothing has
    /// changed.
    [[gnu::cold, gnu::noinline]] void restore(std::span<std::byte const> saved) {
        wire::state_reader archive(saved, identity(), x_.size(), on_);
        all_state(archive);
        archive.rewind();
        all_state(archive);
        looked_ = false;
        self().recover();
    }
    std::uint64_t rounds() const { return round_; }
    std::span<T const> x() const { return x_; }

  protected:
    /// All randomness follows from the seed, and x and delta_ are in the memory of the backend `on`. x, which is moved
    /// in place, must outlive this, as the objective and the communicator must, except for handles. Throws shape_error
    /// where x has not the objective's dimension.
    [[gnu::cold]] loop_base(F const& objective, C& comm, std::span<T> x, std::uint64_t seed, B on = {})
        : objective_(objective), comm_(comm), x_(x), seed_{seed}, on_(std::move(on)), delta_(x.size()) {
        if (x.size() != static_cast<std::size_t>(objective.dimension()))
            throw shape_error({"x has ", x.size(), " numbers, the objective's dimension is ", objective.dimension()});
        messages::check_dimension(x.size());
    }
    /// Throws agreement_error on every rank where ranks disagree on `method`, which has all its settings, the
    /// dimension, the seed or the starting point.
    [[gnu::cold]] void agree(detail::agreed_items const& method) {
        items_ = {{"the dimension", x_.size()},
                  {"the bytes of a number", sizeof(T)},
                  {"the version of the wire format", wire::wire_version}};
        items_.add(method);
        items_.add({"the seed", seed_.bits});
        auto agreed = items_;
        agreed.add({"the starting point", detail::digest(std::as_bytes(on_host(on_, std::span<T const>(x_))))});
        agreed.add({"one process", detail::in_one_process(*comm_) ? "yes" : "no"});
        require_agreement(*comm_, agreed);
    }
    round_context now_of(int rank) const { return round_context::of(seed_, round_, rank, comm_->size()); }
    key own_of(int rank) const { return round_context::own_of(seed_, round_, rank); }
    round_context now() const { return now_of(comm_->rank()); }
    /// Writes this rank's gradient at x to delta_, and returns its value where that costs nothing.
    std::optional<double> estimate() {
        return static_cast<double>(evaluate(*objective_, std::span<T const>(x_), std::span<T>(delta_)));
    }

    detail::kept<F const> objective_;
    detail::kept<C> comm_;
    std::span<T> x_;
    key seed_;
    B on_;
    typename B::template array<T> delta_;  // this rank's gradient where looked_, of which a round makes what it sends
    bool looked_ = false;
    std::uint64_t round_ = 0;

  private:
    D& self() { return static_cast<D&>(*this); }
    void all_state(auto& archive) {
        archive(round_);
        archive.span_there(x_);
        self().state(archive);
    }
    [[gnu::cold, gnu::noinline]] std::string identity() const {
        return detail::concat({items_.lines(), "rank ", comm_->rank(), " of ", comm_->size(), "\n"});
    }

    std::optional<double> value_;
    detail::agreed_items items_;
};

}  // namespace laconic
