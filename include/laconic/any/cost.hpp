// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "laconic/any/registry.hpp"
#include "laconic/core/cost.hpp"

namespace laconic {

template <>
struct registry<message_cost> {
    static constexpr char const* kind = "a cost of one way";
    using types = detail::type_list<described_costs::bits, described_costs::affine, described_costs::packets,
                                    described_costs::energy, described_costs::air_time, described_costs::lossy>;
};
template <>
struct registry<two_way_cost> {
    static constexpr char const* kind = "a cost";
    using types = detail::types_of_both<registry<message_cost>::types, detail::type_list<described_costs::two_way>>;
};

/// Reads the text of a cost, such as "packets(512, 64, 60)", "lossy(affine(1, 64), 0.001)" or "two_way(bits, bits,
/// answer=64)"; to_string of the result reads back as the same. Throws parse_error with the place and the valid names.
inline two_way_cost parse_cost(std::string_view text) { return grammar::parse<two_way_cost>(text); }

/// All costs that parse_cost reads.
inline std::vector<listed_value> list_costs() { return grammar::abouts<two_way_cost>(); }

}  // namespace laconic
