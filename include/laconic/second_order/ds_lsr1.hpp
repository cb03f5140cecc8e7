// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "laconic/collective/collective.hpp"
#include "laconic/core/description.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"
#include "laconic/objective/problem.hpp"
#include "laconic/reduction/reduction.hpp"
#include "laconic/second_order/sr1_descent.hpp"

namespace laconic {

/// DS-LSR1 (Jahani, Nazari, Rusakov, Berahas, Takac, arXiv:1905.13096), and on one rank S-LSR1 (Berahas, Jahani,
/// Richtarik, Takac, arXiv:1901.09997): in each round `memory` fresh directions s_j and their products with the Hessian
/// make an SR1 model of f = mean f_i, B from gamma I on, which forgets all earlier rounds. CG-Steihaug minimises it
/// within a trust region; the step is taken where f falls by more than 1e-6 of what the model promises, and the radius
/// doubles above 3/4 of it and halves below 1/10. With memory = d that is Newton's method in a trust region; with fewer
/// pairs and gamma = 0 the model is linear beside the span of g and Y, so that most steps are as long as the radius.
///
/// What a rank sends in a round is what curvature_transport says, and a value; where the last step was taken also d + 1
/// numbers, the gradient and the value. `over` is the transport of all sums: gather_all{}, served<identity>{}, by which
/// traffic runs over a star whose server is rank 0, or a collective such as ring{}. As all ranks make the same steps,
/// neither x nor a step is ever broadcast.
template <class X = gather_all>
struct ds_lsr1 {
    std::size_t memory = 16;                                      ///< m, the number of pairs
    curvature_transport curvature = curvature_transport::ship_y;  ///< what travels: the steps are the same
    double gamma = 0;                                             ///< the model before any pair is gamma I
    double radius = 1;                                            ///< of the trust region at first
    double forcing = .5;  ///< the search ends at a residual of min(forcing, sqrt |g|) |g|
    X over{};

    /// The loop from x. Throws argument_error for settings outside their ranges, and what its constructor throws.
    template <Scalar T, class F, Communicator C>
    sr1_descent<ds_lsr1, F, C, T> start(problem const&, F const& objective, C& comm, std::span<T> x,
                                        std::uint64_t seed) const {
        if (memory < 1 || memory > 4096)
            throw argument_error(detail::concat({"ds_lsr1: memory = ", memory, " is outside 1 .. 4096"}));
        if (!std::isfinite(gamma)) throw argument_error(detail::concat({"ds_lsr1: gamma = ", gamma, " is not finite"}));
        if (!(radius > 0 && std::isfinite(radius)))
            throw argument_error(detail::concat({"ds_lsr1: radius = ", radius, " is not a number above 0"}));
        if (!(forcing > 0 && forcing < 1))
            throw argument_error(detail::concat({"ds_lsr1: forcing = ", forcing, " is not between 0 and 1"}));
        return {*this, objective, comm, x, seed};
    }

    bool operator==(ds_lsr1 const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("ds_lsr1", "Newton steps in a trust region, by a model from sampled Hessian products",
                 "Jahani, Nazari, Rusakov, Berahas, Takac, arXiv:1905.13096",
                 field("memory", &ds_lsr1::memory).between(1, 4096).written_by_name(),
                 field("curvature", &ds_lsr1::curvature).by_name(), field("gamma", &ds_lsr1::gamma).by_name(),
                 field("radius", &ds_lsr1::radius).between(0, 1e300).by_name(),
                 field("forcing", &ds_lsr1::forcing).between(0, 1).by_name(), detail::over_field(&ds_lsr1::over));
    }
};

}  // namespace laconic
