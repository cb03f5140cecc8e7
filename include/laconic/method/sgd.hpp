// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/compress/identity.hpp"
#include "laconic/method/dcgd.hpp"

namespace laconic {

/// Distributed stochastic gradient descent: each of n workers sends in full the gradient of a batch of b of its rows,
/// of one row where no batch is given. For convex f_ij and step = 1 / (L + 2 max L_ij / (n b)),
///     E|x^k - x*|^2 <= (1 - step mu)^k |x^0 - x*|^2 + 2 step sigma^2 / (mu n b) ,
/// sigma^2 being the mean variance of a row's gradient at x*: dcgd's theorem for omega = 0 (Gower et al., ICML 2019,
/// theorem 3.1, has the same for half the step). For all rows see gd.
struct sgd {
    overrides given{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        return detail::compose_dcgd<T, B>(identity{}, given.with_rows(), p, "sgd");
    }

    bool operator==(sgd const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("sgd", "g mini-batch, C identity, alpha 0", "Robbins, Monro 1951; Gower et al., ICML 2019",
                 detail::step_field, detail::rows_field.written());
    }
};

}  // namespace laconic
