// SPDX-License-Identifier: Apache-2.0
// A `sparse_sum` on the device has the host's terms after every operation.
#include "laconic/collective/terms/sparse_sum.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

#include "laconic/compress/top_k.hpp"
#include "support/on_device.hpp"
#include "support/sparse_vectors.hpp"

using namespace laconic;
namespace sv = sparse_vectors;
using on_device::brought;
using on_device::taken;

TEST_CASE_TEMPLATE("a list on the device is the host's after all that is done with both", T, float, double) {
    device on;
    host cpu;
    for (auto const how : sv::shapes)
        for (std::size_t const k : {0, 1, 6, 60}) {
            CAPTURE(k);
            std::size_t const d = 60;
            auto v = sv::whole_numbers<T>(how, d, 8, 0, 3), left = sv::whole_numbers<T>(how, d, 8, 1, 3);
            auto const other = sv::whole_numbers<T>(how, d, 8, 2, 3);
            auto there = taken(on, v), left_there = taken(on, left);
            auto const other_there = taken(on, other);
            CHECK(brought(on, there) == v);
            v.add(cpu, other);
            there.add(on, other_there);
            CHECK(brought(on, there) == v);
            v.keep_largest(cpu, k, left);
            there.keep_largest(on, k, left_there);
            CHECK(brought(on, there) == v);
            CHECK(brought(on, left_there) == left);
            sparse_sum<T> rest;
            sparse_sum<T, device> rest_there;
            rest.assign_without(cpu, other, v);
            rest_there.assign_without(on, other_there, there);
            CHECK(brought(on, rest_there) == rest);
            rest_there.assign(on, there);
            CHECK(brought(on, rest_there) == v);
        }
}

TEST_CASE("equal magnitudes: the lower coordinates are kept") {
    device on;
    auto v = taken(on, sv::of<float>(9, {{1, 2}, {3, -2}, {4, 2}, {8, -2}}));
    sparse_sum<float, device> left(9);
    v.keep_largest(on, 2, left);
    CHECK(brought(on, v) == sv::of<float>(9, {{1, 2}, {3, -2}}));
    CHECK(brought(on, left) == sv::of<float>(9, {{4, 2}, {8, -2}}));
}

TEST_CASE("a message's terms") {
    device on;
    std::vector<double> const x{1, -7, 3, 0, 9};
    device::array<double> there(5);
    copy_from_host(on, std::span<double const>(x), std::span<double>(there));
    detail::message_of<top_k<>, double, device> m;
    top_k{2}(on, std::span<double const>(there), key{1}, m);
    sparse_sum<double, device> v;
    v.assign(on, m);
    CHECK(brought(on, v) == sv::of<double>(5, {{1, -7}, {4, 9}}));
}
