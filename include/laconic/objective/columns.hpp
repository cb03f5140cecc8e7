// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"
#include "laconic/objective/dataset.hpp"

namespace laconic {

/// The columns [begin, end) of every row, which become the features 0 .. end - begin - 1, with the labels, under a name
/// of their own: what one party holds where features are divided between parties. Throws argument_error unless begin <
/// end <= features().
template <Scalar T>
dataset<T> columns(dataset<T> const& data, std::size_t begin, std::size_t end, std::string its_name) {
    if (begin >= end || end > data.features())
        throw argument_error(detail::concat(
            detail::text_pieces{data.name, ": no columns ", begin, " to ", end, " of ", data.features()}));
    auto const first = static_cast<std::ptrdiff_t>(begin), last = static_cast<std::ptrdiff_t>(end);
    dataset<T> result{std::move(its_name), {}, data.labels};
    result.rows.resize(data.rows.rows(), last - first);
    for (std::ptrdiff_t j = 0; j < data.rows.rows(); ++j) {
        result.rows.startVec(j);
        for (typename dataset<T>::matrix::InnerIterator at(data.rows, j); at; ++at)
            if (at.col() >= first && at.col() < last) result.rows.insertBack(j, at.col() - first) = at.value();
    }
    result.rows.finalize();
    return result;
}

}  // namespace laconic
