// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "laconic/adapt/warm_up.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/core/text.hpp"
#include "laconic/estimate/clipped.hpp"
#include "laconic/feedback/momentum_correction.hpp"
#include "laconic/method/rates.hpp"
#include "laconic/recursion.hpp"

namespace laconic {

/// Deep Gradient Compression (Lin, Han, Mao, Wang, Dally, ICLR 2018): each rank sends the k numbers of largest
/// magnitude of its accumulated momentum, which is cleared where it was sent (see momentum_correction); each rank's
/// gradient is clipped to a norm of clip / sqrt(n) (0: none), and the first `warm_up` rounds send more (see
/// laconic::warm_up). k, a count or a fraction, is of the whole gradient, not of each layer. No theorem gives its step.
struct dgc {
    portion k = 0.001;
    double momentum = 0.9;
    bool nesterov = false;
    double clip = 0;
    std::uint64_t warm_up = 0;
    rates given{};

    template <Scalar T, class B>
    recursion<top_k<>, momentum_correction<T, B>, gradient_step, laconic::warm_up, clipped<mini_batch>> compose(
        problem const& p) const {
        if (!(clip >= 0)) throw argument_error(detail::concat({"dgc: clip = ", clip, " is not at least 0"}));
        detail::refuse_memory(given, "dgc");
        double const step = detail::own_step(given, p, "dgc", "no theorem gives its step");
        return {top_k{k.value},
                momentum_correction<T, B>(momentum, nesterov),
                gradient_step{step},
                {k, warm_up},
                {given.batch, clip / std::sqrt(static_cast<double>(p.workers)), clip_at::norm}};
    }

    bool operator==(dgc const&) const = default;
    friend std::string to_string(dgc const& m) {
        return detail::called(
            "dgc",
            detail::concat({"k=", to_string(m.k), ", momentum=", m.momentum, (m.nesterov ? ", nesterov=yes" : ""),
                            (m.clip != 0 ? detail::concat({", clip=", m.clip}) : ""),
                            (m.warm_up != 0 ? detail::concat({", warm_up=", m.warm_up}) : "")}),
            m.given);
    }
};

}  // namespace laconic
