// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "laconic/backend/host/memory.hpp"
#include "laconic/backend/host/update.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/view.hpp"

/// What is done at some coordinates of a vector. The costs are those of the coordinates, not of the vector.
namespace laconic::detail {

// Terms that lie in buckets: terms.from(first) are those from coordinate `first` on that share its bucket.
template <class Terms>
concept InBuckets = requires(Terms const terms, std::size_t first) {
    terms.from(first);
};

}  // namespace laconic::detail

namespace laconic::kernels {

/// out_i += w v for every term v e_i, bucket by bucket, so that no term looks for its bucket.
template <class A, Scalar T, detail::InBuckets Terms>
void add_terms(basic_host<A>& on, std::span<T> out, T w, Terms terms) {
    LACONIC_EXPECTS(terms.size() == out.size());
    for (std::size_t first = 0; first < out.size();) {
        auto const part = terms.from(first);
        add_terms(on, out.subspan(first, part.size()), w, part);
        first += part.size();
    }
}

/// out_i <- 0 for every term v e_i whose v, as a T, is not 0.
template <class A, Scalar T, class Terms>
void clear_terms(basic_host<A>&, std::span<T> out, Terms terms) {
    for (std::size_t j = 0; j < terms.size(); ++j)
        if (auto const t = terms[j]; static_cast<T>(t.value) != 0) out[t.at] = 0;
}

/// The numbers of out in the units at_0, at_1, .. become those of `values`, in their order: what gather() has read is
/// put back. A unit is `unit` consecutive numbers; the last of out may be shorter.
template <class A, Scalar T>
void scatter(basic_host<A>&, std::span<T const> values, std::span<coordinate const> at, std::size_t unit,
             std::span<T> out) {
    for (coordinate const u : at) {
        auto const part = out.subspan(u * unit, std::min(unit, out.size() - u * unit));
        LACONIC_EXPECTS(part.size() <= values.size());
        std::copy_n(values.begin(), part.size(), part.begin());
        values = values.subspan(part.size());
    }
    LACONIC_EXPECTS(values.empty());
}

}  // namespace laconic::kernels
