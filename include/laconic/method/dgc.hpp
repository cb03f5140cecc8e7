// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "laconic/adapt/warm_up.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/estimate/clipped.hpp"
#include "laconic/feedback/momentum_correction.hpp"
#include "laconic/method/overrides.hpp"
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
    overrides given{};

    template <Scalar T, class B>
    recursion<top_k<>, momentum_correction<T, B>, gradient_step, laconic::warm_up, clipped<mini_batch>> compose(
        problem const& p) const {
        double const step = detail::theory(*this, p).own_step("no theorem gives its step");
        return {top_k{k.value},
                momentum_correction<T, B>(momentum, nesterov),
                gradient_step{step},
                {k, warm_up},
                {given.batch, clip / std::sqrt(static_cast<double>(p.workers)), clip_at::norm}};
    }

    bool operator==(dgc const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("dgc", "g clipped, C top_k of momenta that are accumulated until they are sent, alpha 0",
                 "Lin et al., ICLR 2018", field("k", &dgc::k).written_by_name(),
                 field("momentum", &dgc::momentum).written().by_name(), field("nesterov", &dgc::nesterov),
                 field("clip", &dgc::clip).between(0, 1e300).by_name(),
                 field("warm_up", &dgc::warm_up).between(0, 1e12), detail::step_field, detail::batch_field);
    }
};

}  // namespace laconic
