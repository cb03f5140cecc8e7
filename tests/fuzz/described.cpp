// SPDX-License-Identifier: Apache-2.0
// Any bytes to the reader of self-describing messages are refused, or are finite numbers in order within the limits.
#include <cmath>

#include "fuzz/fuzz.hpp"
#include "laconic/wire/described.hpp"
#include "support/own_messages.hpp"

int fuzz_described(std::uint8_t const* data, std::size_t size) {
    auto const bytes = std::as_bytes(std::span(data, size));
    laconic::reading_limits const limits{.dimension = 100000, .memory = 1 << 22};
    try {
        auto const m = laconic::read_described(bytes, limits, own::messages);
        if (m.dimension > limits.dimension) fuzz::found("a dimension above the limit");
        if (16 * m.values.size() > limits.memory) fuzz::found("more memory than the limit");
        if (m.values.size() != (m.dense ? m.dimension : m.at.size())) fuzz::found("not a number for each coordinate");
        for (double const v : m.values)
            if (!std::isfinite(v)) fuzz::found("a number that is not finite");
        for (std::size_t j = 0; j < m.at.size(); ++j)
            if (m.at[j] >= m.dimension || (j > 0 && m.at[j] <= m.at[j - 1])) fuzz::found("coordinates out of order");
    } catch (laconic::wire_error const& e) {
        if (e.bit > 8 * size) fuzz::found("refused at a bit that is not there");
    }
    return 0;
}
