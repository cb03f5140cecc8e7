// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "laconic/any/communicator.hpp"
#include "laconic/collective/collective.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/wire/state.hpp"

/// Collectives that are chosen at run time; each is compiled once, for any_communicator, which the ranks' own
/// communicator is converted to.
namespace laconic {

/// The working object of an any_collective.
template <Scalar T, class B>
class any_sum {
  public:
    template <class S>
    explicit any_sum(S sum) : held_(std::make_unique<model<S>>(std::move(sum))) {}

    /// Only one of the two may be called: the first where wants_terms(), else the second.
    template <Communicator C>
    void operator()(B& on, C& comm, sparse_sum<T, B>& v, std::uint64_t round = 0) {
        any_communicator any(comm);
        held_->sum(on, any, v, round);
    }
    template <Communicator C>
    void operator()(B& on, C& comm, std::span<T> x, std::uint64_t round = 0) {
        any_communicator any(comm);
        held_->sum(on, any, x, round);
    }
    bool wants_terms() const { return held_->wants_terms(); }

    /// Whether a sum may leave something out, which is then in leftover().
    bool gives_back() const { return held_->leftover() != nullptr; }
    sparse_sum<T, B> const& leftover() const { return *held_->leftover(); }

    template <class Archive>
    void state(Archive& archive) {
        held_->state(archive);
    }

  private:
    struct face {
        virtual ~face() = default;
        virtual void state(state_writer& archive) = 0;
        virtual void state(state_reader& archive) = 0;
        virtual bool wants_terms() const = 0;
        virtual void sum(B& on, any_communicator& comm, sparse_sum<T, B>& v, std::uint64_t round) = 0;
        virtual void sum(B& on, any_communicator& comm, std::span<T> x, std::uint64_t round) = 0;
        virtual sparse_sum<T, B> const* leftover() const = 0;
    };
    template <class S>
    struct model final : face {
        S inside;
        static constexpr bool terms = SumsTerms<S, T, B, any_communicator>;
        static_assert(terms || SumsNumbers<S, T, B, any_communicator>,
                      "this collective asks more of a communicator than any_communicator has");

        explicit model(S s) : inside(std::move(s)) {}
        void state(state_writer& archive) override { walk(archive); }
        void state(state_reader& archive) override { walk(archive); }
        bool wants_terms() const override { return terms; }
        void sum(B& on, any_communicator& comm, sparse_sum<T, B>& v, std::uint64_t round) override {
            LACONIC_EXPECTS(terms);
            if constexpr (terms) inside(on, comm, v, round);
        }
        void sum(B& on, any_communicator& comm, std::span<T> x, std::uint64_t round) override {
            LACONIC_EXPECTS(!terms);
            if constexpr (!terms) inside(on, comm, x, round);
        }
        sparse_sum<T, B> const* leftover() const override {
            if constexpr (GivesBack<S, T, B>)
                return &inside.leftover();
            else
                return nullptr;
        }

      private:
        template <class Archive>
        void walk(Archive& archive) {
            if constexpr (HasState<S, Archive>) inside.state(archive);
        }
    };
    std::unique_ptr<face> held_;
};

/// Any collective for vectors of T, or gather_all, which is the default. Two are equal iff their texts are.
template <Scalar T = double, class B = host>
class any_collective {
  public:
    any_collective() = default;
    any_collective(gather_all) {}  // NOLINT: implicit, like that of std::function
    template <class X>
    requires(!std::same_as<X, any_collective> && Collective<X, T, B>) any_collective(X collective)  // NOLINT: implicit
        : held_(std::make_shared<model<X> const>(std::move(collective))) {}

    /// Whether it is gather_all, which makes no sum.
    bool gathers() const { return !held_; }
    void check(std::size_t d) const {
        if (held_) held_->check(d);
    }
    template <Scalar S, class On>
    requires(std::same_as<S, T>&& std::same_as<On, B>) any_sum<T, B> make(std::size_t d, position_code positions)
    const {
        if (!held_) throw argument_error("gather adds nothing up: messages go to all as they are");
        return held_->make(d, positions);
    }

    // Templates, so that no other type is tried for conversion here.
    template <std::same_as<any_collective> Self>
    friend bool operator==(Self const& a, Self const& b) {
        return to_string(a) == to_string(b);
    }
    template <std::same_as<any_collective> Self>
    friend std::string to_string(Self const& x) {
        return x.held_ ? x.held_->name() : to_string(gather_all{});
    }

  private:
    struct face {
        virtual ~face() = default;
        virtual void check(std::size_t d) const = 0;
        virtual any_sum<T, B> make(std::size_t d, position_code positions) const = 0;
        virtual std::string name() const = 0;
    };
    template <class X>
    struct model final : face {
        X inside;

        explicit model(X x) : inside(std::move(x)) {}
        void check(std::size_t d) const override { inside.check(d); }
        any_sum<T, B> make(std::size_t d, position_code positions) const override {
            return any_sum<T, B>(inside.template make<T, B>(d, positions));
        }
        std::string name() const override { return to_string(inside); }
    };
    std::shared_ptr<face const> held_;
};

}  // namespace laconic
