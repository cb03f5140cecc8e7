// SPDX-License-Identifier: Apache-2.0
// Fetching ahead changes no memory and never faults, whatever the address.
#include "laconic/backend/host/impl/fetch.hpp"

#include "support/everything.hpp"

using namespace laconic;

TEST_CASE("any address may be fetched ahead, and memory keeps its contents") {
    for (std::uintptr_t const address : {std::uintptr_t{0}, std::uintptr_t{1}, ~std::uintptr_t{0}}) {
        detail::fetch_ahead<256>(reinterpret_cast<void const*>(address));
        detail::fetch_to_write(reinterpret_cast<void const*>(address));
    }
    std::vector<std::uint64_t> memory(4096, 7);
    for (auto& m : memory) {
        detail::fetch_ahead<64>(&m);
        detail::fetch_to_write(&m);
    }
    CHECK(memory == std::vector<std::uint64_t>(4096, 7));
}
