// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "laconic/compress/compressor.hpp"
#include "laconic/message/plain.hpp"

namespace laconic {

/// A vector no longer than the limit: factor min(1, limit / |x|_2) x, every number of it. Up to the limit, with factor
/// 1, it is x itself; of longer vectors it keeps less and less, so it has neither omega nor delta. The differences to a
/// shift become short, and are then no longer clipped (clip21). Cost: three passes, four where it clips.
struct clip {
    double limit = 1;
    double factor = 1;

    static constexpr void description(auto&& describe) {
        describe("clip", "every number, scaled down where the vector is longer than the limit", "",
                 field("limit", &clip::limit).between(detail::above_0, 1e300),
                 field("factor", &clip::factor).between(detail::above_0, 1).by_name());
    }

    template <Scalar T, class B>
    using message = messages::full_vector<T, B>;

    /// Throws argument_error unless the limit is above 0 and finite, and the factor in (0, 1].
    void check(std::size_t) const { detail::check_fields(*this); }
    void blank(auto&, std::size_t d, key, auto& m) const { messages::begin_message(m, d); }
    template <Scalar T>
    void operator()(auto& on, std::span<T const> x, key, auto& m) const {
        messages::check_dimension(x.size());
        check(x.size());
        kernels::assign(on, x, m.values);
        std::span<T> const values(m.values);
        kernels::cut_norm(on, limit, values);
        if (factor < 1) multiply(on, static_cast<T>(factor), values);
    }

    bool operator==(clip const&) const = default;
};

}  // namespace laconic
