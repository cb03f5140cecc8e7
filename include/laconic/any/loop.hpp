// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "laconic/any/communicator.hpp"
#include "laconic/any/holder.hpp"
#include "laconic/loop.hpp"

namespace laconic {

/// A loop that is chosen at run time, over any_communicator. Its ranks may hold different iterates, or the same: it
/// evaluates f at their mean where the loop inside does, and at its own iterate where it does not.
template <Scalar T = double>
class any_loop {
  public:
    static constexpr bool own_iterates = true;

    /// Makes the loop that start(handle) returns, over a handle to `comm`; both live as long as this.
    template <class Start>
    any_loop(any_communicator comm, Start start) : held_(new model<Start>(std::move(comm), std::move(start))) {}

    /// What look() returns; value() evaluates the objective where its value did not come with the gradient.
    struct seen {
        std::uint64_t round;
        std::span<T const> x;
        any_loop const* loop;

        double value() const { return loop->held_->value(); }
    };
    seen look() {
        auto const round = held_->look();
        return {round, held_->x(), this};
    }
    void round() { held_->round(); }
    std::uint64_t rounds() const { return held_->rounds(); }
    std::span<T const> x() const { return held_->x(); }
    std::vector<std::byte> save() const { return held_->save(); }
    void restore(std::span<std::byte const> saved) { held_->restore(saved); }
    /// A collective call where the ranks of the loop inside evaluate together.
    double value_at_mean(any_communicator comm) const { return held_->value_at_mean(comm); }
    /// Whether they do.
    bool evaluates_together() const { return held_->evaluates_together(); }

  private:
    struct face {
        virtual ~face() = default;
        virtual std::uint64_t look() = 0;
        virtual double value() = 0;
        virtual void round() = 0;
        virtual std::uint64_t rounds() const = 0;
        virtual std::span<T const> x() const = 0;
        virtual std::vector<std::byte> save() const = 0;
        virtual void restore(std::span<std::byte const> saved) = 0;
        virtual double value_at_mean(any_communicator& comm) = 0;
        virtual bool evaluates_together() const = 0;
    };
    template <class Start>
    struct model final : face {
        any_communicator handle;
        Start start;  // it may hold what the loop inside refers to
        decltype(std::declval<Start&>()(std::declval<any_communicator&>())) inside;
        std::optional<decltype(inside.look())> last;
        static constexpr bool together = detail::EvaluatesTogether<decltype(inside), any_communicator>;

        model(any_communicator comm, Start how)
            : handle(std::move(comm)), start(std::move(how)), inside(start(handle)) {}
        std::uint64_t look() override { return last.emplace(inside.look()).round; }
        double value() override { return static_cast<double>(last->value()); }
        void round() override { inside.round(); }
        std::uint64_t rounds() const override { return inside.rounds(); }
        std::span<T const> x() const override { return inside.x(); }
        std::vector<std::byte> save() const override { return inside.save(); }
        void restore(std::span<std::byte const> saved) override { inside.restore(saved); }
        double value_at_mean(any_communicator& comm) override {
            if constexpr (together) return inside.value_at_mean(comm);
            return inside.look().value();
        }
        bool evaluates_together() const override { return together; }
    };
    detail::owned<face> held_;
};

}  // namespace laconic
