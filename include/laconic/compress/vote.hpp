// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "laconic/compress/compressor.hpp"
#include "laconic/message/bucketed.hpp"

namespace laconic {

/// Sends the sign of every value as 1 or -1, a bit a value and nothing else; 0 counts as positive. The message of
/// signSGD (Bernstein et al., ICML 2018): the mean of such messages is positive where the majority is. It is neither
/// unbiased nor contractive; scaled_sign, with a magnitude for each bucket, is contractive.
struct vote {
    static constexpr void description(auto&& describe) {
        describe("vote", "signs alone", "Bernstein et al., ICML 2018");
    }

    template <Scalar T, class B>
    using message = messages::signs<T, B>;

    void check(std::size_t) const {}
    template <class B, Scalar T>
    void blank(B&, std::size_t d, key, messages::signs<T, B>& m) const {
        check_dimension(d);
        m.bucket = 0;
        m.resize(d);
    }
    /// Throws argument_error where a value is not finite.
    template <class B, Scalar T>
    void operator()(B& on, std::span<T const> x, key from, messages::signs<T, B>& m) const {
        check_dimension(x.size());
        if (auto const j = first_non_finite(on, x); j < x.size())
            throw argument_error(detail::concat({"vote: coordinate ", j, " is not finite"}));
        blank(on, x.size(), from, m);
        pack_signs(on, x, std::span(m.words));
    }

    bool operator==(vote const&) const = default;
};

}  // namespace laconic
