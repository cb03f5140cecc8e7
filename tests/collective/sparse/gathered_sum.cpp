// SPDX-License-Identifier: Apache-2.0
// `gathered_sum` adds up all ranks' lists in the order of ranks, with as many bytes as documented.
#include "laconic/collective/sparse/gathered_sum.hpp"

#include <doctest/doctest.h>

#include "support/sparse_sums.hpp"

using namespace laconic;

static_assert(Collective<gathered_sum>);

namespace {

constexpr auto make_gathered_sum = []<class T>(auto& comm, std::size_t d) {
    return make_sum<T>(gathered_sum{}, comm, d);
};

}  // namespace

TEST_CASE("sums of lists of floats that all ranks gather") { sparse_sums::sums_are_right<float>(make_gathered_sum); }
TEST_CASE("sums of lists of doubles that all ranks gather") { sparse_sums::sums_are_right<double>(make_gathered_sum); }

TEST_CASE("ranks are added up in their order") {
    namespace sv = sparse_vectors;
    sv::lists<float> brought;
    for (float const v : {1.f, 0x1p24f, 1.f, -0x1p24f}) brought.push_back(sv::of<float>(3, {{1, v}}));
    for (auto const& v : sv::after(brought, sparse_sums::with_dimension<float>(make_gathered_sum, 3)).first)
        CHECK(v == sv::of<float>(3, {{1, ((1.f + 0x1p24f) + 1.f) - 0x1p24f}}));
}

TEST_CASE("each rank sends every list but one") {
    namespace sv = sparse_vectors;
    for (int const n : {1, 2, 3, 5, 8}) {
        auto const brought = sv::all_whole_numbers<float>(sv::shape::all, 10, 0, n);
        for (auto const sent : sparse_sums::bytes_sent_by(brought, make_gathered_sum)) {
            // In each step some lists of 4 + 320 bits.
            std::uint64_t bytes = 0;
            for (int distance = 1; distance < n; distance *= 2)
                bytes += (std::uint64_t(std::min(distance, n - distance)) * 324 + 7) / 8;
            CHECK(sent == bytes);
        }
    }
}

TEST_CASE("what a gathered sum refuses") { sparse_sums::refuses(make_gathered_sum, false); }

TEST_CASE("the text of gathered_sum is its name") { CHECK(to_string(gathered_sum{}) == "gathered_sum"); }
