// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <utility>

#include "laconic/any/communicator.hpp"
#include "laconic/any/holder.hpp"
#include "laconic/collective/collective.hpp"
#include "laconic/transport/robust.hpp"

/// Collectives that are chosen at run time; each is compiled once, for any_communicator, which the ranks' own
/// communicator is converted to.
namespace laconic {

namespace detail {

template <class T>
struct rule_face : face {
    virtual void check(std::size_t n) const = 0;
    virtual void operator()(robust_rules::rank_vectors<T> all, std::span<T const> last, std::span<T> out) const = 0;
};
template <class Holder, class T>
struct rule_model : model<rule_face<T>, Holder> {
    using model<rule_face<T>, Holder>::model;
    void check(std::size_t n) const override { this->inside->check(n); }
    void operator()(robust_rules::rank_vectors<T> all, std::span<T const> last, std::span<T> out) const override {
        (*this->inside)(all, last, out);
    }
};

template <class T, class B>
struct sum_face : face_with_state {
    virtual bool wants_terms() const = 0;
    virtual void operator()(B& on, any_communicator& comm, sparse_sum<T, B>& v, sum_round const& round) = 0;
    virtual void operator()(B& on, any_communicator& comm, std::span<T> x, sum_round const& round) = 0;
    virtual bool gives_back() const = 0;
    virtual void add_leftover(B& on, std::span<T> e) const = 0;
    virtual void commit() = 0;
};
template <class S, class T, class B>
struct sum_model final : model<sum_face<T, B>, held_value<S>> {
    static constexpr bool terms = SumsTerms<S, T, B, any_communicator>;
    static_assert(terms || SumsNumbers<S, T, B, any_communicator>,
                  "this collective asks more of a communicator than any_communicator has");

    using model<sum_face<T, B>, held_value<S>>::model;
    bool wants_terms() const override { return terms; }
    void operator()(B& on, any_communicator& comm, sparse_sum<T, B>& v, sum_round const& round) override {
        LACONIC_EXPECTS(terms);
        if constexpr (terms) (*this->inside)(on, comm, v, round);
    }
    void operator()(B& on, any_communicator& comm, std::span<T> x, sum_round const& round) override {
        LACONIC_EXPECTS(!terms);
        if constexpr (!terms) (*this->inside)(on, comm, x, round);
    }
    bool gives_back() const override { return GivesBack<S, T, B>; }
    void add_leftover([[maybe_unused]] B& on, [[maybe_unused]] std::span<T> e) const override {
        if constexpr (GivesBack<S, T, B>) detail::add_leftover(on, *this->inside, e);
    }
    void commit() override {
        if constexpr (Commits<S>) this->inside->commit();
    }
};

template <class T, class B>
struct collective_face;

}  // namespace detail

/// Any rule of robust_rules for vectors of T, by default the median of each coordinate. Two are equal iff their texts
/// are.
template <Scalar T = double>
class any_rule final : public detail::rule_model<detail::shared<detail::rule_face<T>>, T> {
  public:
    any_rule() : any_rule(robust_rules::coordinate_median{}) {}
    template <class Rule>
    requires(!std::same_as<Rule, any_rule> &&
             requires(Rule const& r, std::span<T const> last, std::span<T> out) {
                 r(robust_rules::rank_vectors<T>{}, last, out);
             }) any_rule(Rule rule)  // NOLINT: implicit, like that of std::function
        : any_rule::rule_model(detail::modelled<detail::rule_model, T>(std::move(rule))) {}
};

/// The working object of an any_collective.
template <Scalar T, class B>
class any_sum {
  public:
    template <class S>
    requires(!std::same_as<S, any_sum>) explicit any_sum(S sum)
        : inside_(new detail::sum_model<S, T, B>(std::move(sum))) {}
    any_sum(detail::collective_face<T, B> const& of, std::size_t d, position_code positions)
        : any_sum(of.make(d, positions)) {}

    /// Only one of the two may be called: the first where wants_terms(), else the second.
    void operator()(B& on, Communicator auto& comm, sparse_sum<T, B>& v, sum_round round = {}) {
        any_communicator any(comm);
        (*inside_)(on, any, v, round);
    }
    void operator()(B& on, Communicator auto& comm, std::span<T> x, sum_round round = {}) {
        any_communicator any(comm);
        (*inside_)(on, any, x, round);
    }
    bool wants_terms() const { return inside_->wants_terms(); }

    /// Whether a sum may leave something out, which is then added to e by add_leftover().
    bool gives_back() const { return inside_->gives_back(); }
    void add_leftover(B& on, std::span<T> e) const { inside_->add_leftover(on, e); }
    void commit() { inside_->commit(); }

    void state(auto& archive) { inside_->state(archive); }

  private:
    detail::owned<detail::sum_face<T, B>> inside_;
};

namespace detail {

template <class T, class B>
struct collective_face : face {
    /// Whether it is gather_all, and what it is if it is robust: neither makes a sum.
    virtual bool gathers() const = 0;
    virtual robust<any_rule<T>> const* by_rule() const = 0;
    virtual void check(std::size_t d) const = 0;
    virtual sum_rounding rounding() const = 0;
    virtual collective_face* shaped(std::size_t d, std::size_t rows) const = 0;
    virtual any_sum<T, B> make(std::size_t d, position_code positions) const = 0;
    template <Scalar S, class On>
    requires(std::same_as<S, T>&& std::same_as<On, B>) using adder = any_sum<S, On>;
};
template <class Holder, class T, class B>
struct collective_model : model<collective_face<T, B>, Holder> {
    static constexpr bool is_face = std::same_as<held_by<Holder>, collective_face<T, B>>,
                          gathering = std::same_as<held_by<Holder>, gather_all>,
                          robustly = std::same_as<held_by<Holder>, robust<any_rule<T>>>;

    using model<collective_face<T, B>, Holder>::model;
    bool gathers() const override {
        if constexpr (is_face) return this->inside->gathers();
        return gathering;
    }
    robust<any_rule<T>> const* by_rule() const override {
        if constexpr (is_face) return this->inside->by_rule();
        if constexpr (robustly) return &*this->inside;
        return nullptr;
    }
    void check(std::size_t d) const override {
        if constexpr (!gathering && !robustly) check_collective(*this->inside, d);
    }
    sum_rounding rounding() const override { return rounding_of(*this->inside); }
    collective_face<T, B>* shaped([[maybe_unused]] std::size_t d, [[maybe_unused]] std::size_t rows) const override {
        if constexpr (is_face) return this->inside->shaped(d, rows);
        if constexpr (requires(held_by<Holder> & x) { x.shape(d, rows); }) {
            auto of_layer = *this->inside;
            of_layer.shape(d, rows);
            return modelled<detail::collective_model, T, B>(std::move(of_layer));
        }
        return nullptr;
    }
    any_sum<T, B> make(std::size_t d, position_code positions) const override {
        if constexpr (gathering || robustly)
            throw argument_error({this->name(), " adds nothing up: messages go to all as they are"});
        else
            return any_sum<T, B>(make_sum<T, B>(*this->inside, d, positions));
    }
};

}  // namespace detail

/// Any collective for vectors of T; or gather_all, which is the default, or on the host robust, which add nothing up.
/// Two are equal iff their texts are.
template <Scalar T = double, class B = host>
class any_collective final : public detail::collective_model<detail::shared<detail::collective_face<T, B>>, T, B> {
  public:
    any_collective() : any_collective(gather_all{}) {}
    template <class X>
    requires(std::same_as<X, gather_all> || (!std::same_as<X, any_collective> && Collective<X, T, B>))
        any_collective(X collective)  // NOLINT: implicit, like that of std::function
        : any_collective::collective_model(detail::modelled<detail::collective_model, T, B>(std::move(collective))) {}

    template <class Rule>
    requires OnHost<B> any_collective(robust<Rule> how)  // NOLINT: implicit
        : any_collective::collective_model(detail::modelled<detail::collective_model, T, B>(
              robust<any_rule<T>>{std::move(how.rule), how.beside_memory})) {}

    /// Becomes that for a layer of this shape.
    void shape(std::size_t d, std::size_t rows) {
        if (auto* const of_layer = this->inside->shaped(d, rows)) this->inside = of_layer;
    }
};

}  // namespace laconic
