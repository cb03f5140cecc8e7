// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "laconic/compress/two_means.hpp"
#include "laconic/core/text.hpp"
#include "laconic/method/ef_sgd.hpp"

namespace laconic {

/// 1-bit SGD (Seide, Fu, Droppo, Li, Yu, Interspeech 2014): ef_sgd with a bit a number and two means a bucket of
/// consecutive numbers (the paper's are columns of weight matrices; 0: one bucket), and with ef_sgd's step for delta =
/// 1 / bucket, which is short.
struct one_bit_sgd {
    std::size_t bucket = 0;
    overrides given{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        return detail::compose_ef<T, B>(two_means{bucket}, given, p, "one_bit_sgd");
    }

    bool operator==(one_bit_sgd const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("one_bit_sgd", "g scaled by the step, C two_means, alpha 0, decay 1", "Seide et al., Interspeech 2014",
                 field("bucket", &one_bit_sgd::bucket).between(0, 1e12), detail::step_field, detail::batch_field);
    }
};

}  // namespace laconic
