// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <utility>

#include "laconic/any/holder.hpp"
#include "laconic/transport/robust_rules.hpp"

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

}  // namespace laconic
