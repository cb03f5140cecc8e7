// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/method/gd_sec.hpp"

namespace laconic {

/// SGD-SEC (Chen, Blum, Takac, Sadler, IEEE JSTSP 2022): gd_sec with the gradients of a batch of rows, of one where no
/// batch is given. No theorem gives its parameters; the defaults are gd_sec's, and with a constant step it stays at a
/// distance from the optimum that shrinks with the step.
struct sgd_sec {
    double xi = 100;
    overrides given{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        return detail::compose_gd_sec<T, B>(identity{}, xi, given.with_rows(), p, "sgd_sec");
    }

    bool operator==(sgd_sec const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("sgd_sec", "gd_sec with mini-batches", "Chen, Blum, Takac, Sadler, IEEE JSTSP 2022",
                 field("xi", &sgd_sec::xi).written().by_name(), detail::beta_field, detail::step_field,
                 detail::rows_field.written());
    }
};

}  // namespace laconic
