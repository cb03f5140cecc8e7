// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"
#include "laconic/core/view.hpp"
#include "laconic/objective/dataset.hpp"

namespace laconic {

/// The index, from 0, of each row's label among the classes. Throws argument_error unless the classes are at least two
/// whole numbers, increasing, and every label is one of them.
template <Scalar T>
std::vector<std::uint32_t> class_index(dataset<T> const& data, std::vector<T> const& classes) {
    if (classes.size() < 2)
        throw argument_error(
            detail::concat(detail::text_pieces{data.name, ": two classes are needed, not ", classes.size()}));
    for (std::size_t c = 0; c < classes.size(); ++c) {
        if (!std::isfinite(classes[c]) || std::trunc(classes[c]) != classes[c])
            throw argument_error(detail::concat(
                detail::text_pieces{data.name, ": the class ", double(classes[c]), " is no whole number"}));
        if (c > 0 && !(classes[c - 1] < classes[c]))
            throw argument_error(detail::concat(
                detail::text_pieces{data.name, ": the classes do not increase at ", double(classes[c])}));
    }
    std::vector<std::uint32_t> places;
    places.reserve(data.labels.size());
    for (auto const label : data.labels) {
        auto const at = std::lower_bound(classes.begin(), classes.end(), label);
        if (at == classes.end() || *at != label)
            throw argument_error(detail::concat(detail::text_pieces{data.name, ": the label ", double(label),
                                                                    " is none of the ", classes.size(), " classes"}));
        places.push_back(static_cast<std::uint32_t>(at - classes.begin()));
    }
    return places;
}

}  // namespace laconic
