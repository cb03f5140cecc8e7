// SPDX-License-Identifier: Apache-2.0
// What is slower on other processors is done on a Zen 4 only.
#include "laconic/backend/host/impl/instruction_set.hpp"

#include "support/everything.hpp"

// Which flags name it: tests/builds/processors.cpp.
TEST_CASE("what loses elsewhere is done on a Zen 4 alone") {
    bool const half = !std::is_same_v<simd::widened_pack<simd::arch>, simd::pack<double, simd::arch>>;
    CHECK(half == (instruction_set::is_zen4 && simd::pack<double, simd::arch>::width == 8));
    CHECK(detail::fetches_pages == instruction_set::is_zen4);
}
