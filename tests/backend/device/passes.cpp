// SPDX-License-Identifier: Apache-2.0
// A pass visits every index once, lists are ascending, and atomic updates lose nothing.
#include "laconic/backend/device/passes.hpp"

#include "laconic/backend/device/reduce.hpp"
#include "support/both.hpp"
#include "support/test.hpp"

// In one translation unit with others, what it uses must not be seen from there: nvcc would find it where it ought not.
namespace passes {

using namespace laconic;
using namespace laconic::detail::on_device;

namespace {

struct count_visits {
    std::uint32_t* visits;
    LACONIC_HOST_DEVICE void operator()(std::size_t i) const { add_together(visits[i], 1u); }
    LACONIC_HOST_DEVICE void operator()(std::size_t first, std::size_t end) const {
        for (std::size_t i = first; i < end; i += neighbours) add_together(visits[i], 1u);
    }
};
struct is_third {
    LACONIC_HOST_DEVICE bool operator()(coordinate i) const { return i % 3 == 1; }
};
struct all_together {
    std::uint32_t* to;
    std::uint64_t* largest;
    LACONIC_HOST_DEVICE void operator()(std::size_t i) const {
        auto const n = static_cast<std::uint32_t>(i);
        add_together(to[0], n);
        set_together(to[1], 1u << n % 10);
        raise_together(to[2], n);
        raise_together(*largest, std::uint64_t{i} << 32);
        if (replace_together(to[3], 0, n + 1) == 0) to[4] = n + 1;
    }
};

}  // namespace

TEST_CASE("every index is visited once, one by one and in stretches") {
    device on;
    for (std::size_t const n : both::lengths) {
        device::array<std::uint32_t> visits(n);
        for_each_index(on, n, count_visits{visits.data()});
        CHECK(both::here(on, visits) == std::vector<std::uint32_t>(n, 1));
        for_each_tile(on, n, count_visits{visits.data()});
        CHECK(both::here(on, visits) == std::vector<std::uint32_t>(n, 2));
    }
}

TEST_CASE("lists are ascending and as long as they have to be") {
    device on;
    device::array<coordinate> list(9);
    for (std::size_t const n : both::lengths) {
        list_indices(on, n, is_third{}, list);
        both::coordinates expected;
        for (coordinate i = 1; i < n; i += 3) expected.push_back(i);
        CHECK(both::here(on, list) == expected);
    }
}

TEST_CASE("whole numbers that all change together") {
    device on;
    device::array<std::uint32_t> to(5);
    device::array<std::uint64_t> largest(1);
    for_each_index(on, 1000, all_together{to.data(), largest.data()});
    auto const after = both::here(on, to);
    CHECK(after[0] == 499500);
    CHECK(after[1] == 1023);
    CHECK(after[2] == 999);
    CHECK(after[3] == after[4]);  // only one finds a 0
    CHECK(both::here(on, largest)[0] == std::uint64_t{999} << 32);
}

TEST_CASE_TEMPLATE("magnitudes as integers", T, float, double) {
    CHECK(magnitude_bits(T(-0.0)) == 0);
    CHECK(magnitude_bits(T(-2)) == magnitude_bits(T(2)));
    CHECK(magnitude_bits(T(-2)) > magnitude_bits(T(1.75)));
    CHECK(magnitude_bits(-std::numeric_limits<T>::max()) < infinite_bits<T>);
    CHECK(magnitude_bits(-std::numeric_limits<T>::quiet_NaN()) > infinite_bits<T>);
}

TEST_CASE_TEMPLATE("numbers keep their order as integers, and come back", T, float, double) {
    T const all[] = {-std::numeric_limits<T>::max(), -1, -std::numeric_limits<T>::denorm_min(), 0, T(1e-30), 2};
    for (std::size_t i = 0; i < 6; ++i) {
        CHECK(from_ordered_bits<T>(ordered_bits(all[i])) == all[i]);
        if (i > 0) CHECK(ordered_bits(all[i - 1]) < ordered_bits(all[i]));
    }
    CHECK(ordered_bits(T(-0.0)) == ordered_bits(T(0)));
    CHECK(ordered_bits(-std::numeric_limits<T>::infinity()) > 0);
}

}  // namespace passes
