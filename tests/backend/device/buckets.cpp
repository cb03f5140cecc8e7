// SPDX-License-Identifier: Apache-2.0
//
// Every kernel of the device is its definition, to the bit; those of lists stand in lists.cpp.
// Also tests blocks.hpp, matrix.hpp, reduce.hpp, sample.hpp, update.hpp
// Facts of all buckets in one pass are those of each bucket alone, and levels keep what they keep on the host.
#include "laconic/backend/device/buckets.hpp"

#include "laconic/backend/device.hpp"
#include "laconic/backend/host.hpp"
#include "laconic/compress/levels.hpp"
#include "support/both.hpp"
#include "support/laws/kernels.hpp"
#include "support/test.hpp"

using laconic::device;

TEST_CASE_TEMPLATE("updates are the definition's", T, float, double) { kernel_laws::updates<device, T>(); }
TEST_CASE_TEMPLATE("reductions are the definition's", T, float, double) { kernel_laws::reductions<device, T>(); }
TEST_CASE_TEMPLATE("selections are the definition's", T, float, double) { kernel_laws::selections<device, T>(); }
TEST_CASE_TEMPLATE("nearly equal blocks are the definition's", T, float, double) {
    kernel_laws::nearly_equal_blocks<device, T>();
}
TEST_CASE_TEMPLATE("short codes are the definition's", T, float, double) { kernel_laws::short_codes<device, T>(); }
TEST_CASE_TEMPLATE("buckets are the definition's", T, float, double) { kernel_laws::buckets<device, T>(); }
TEST_CASE_TEMPLATE("matrices are the definition's", T, float, double) { kernel_laws::matrices<device, T>(); }
TEST_CASE("numbers go there and back, and within") { kernel_laws::moves<device>(); }
TEST_CASE("samples are the definition's") { kernel_laws::samples<device>(laconic::detail::on_device::worth_a_bitmap); }

using namespace laconic;
using namespace laconic::kernels;
using both::in;

TEST_CASE_TEMPLATE("facts of all buckets are those that are asked for one by one", T, float, double) {
    device on;
    reference plain;
    int const grids[] = {1, 3, 127, 32767};
    both::each_finite_vector<T>([&](std::vector<T> const& x) {
        auto const there = both::there(on, x);
        for (std::size_t const bucket : {1u, 7u, 500u, 5000u, 100000u})
            for (auto const p : {p_norm::one, p_norm::two, p_norm::largest}) {
                CAPTURE(bucket);
                std::vector<std::vector<double>> wanted(3 + std::size(grids));
                detail::each_bucket(in(x), bucket, [&](std::size_t, std::size_t, auto part) {
                    T const scale = norm_of(plain, p, part), top = largest_magnitude(plain, part);
                    wanted[0].push_back(double(scale));
                    wanted[1].push_back(double(top));
                    wanted[2].push_back(top > 0 ? squares_in_units(plain, part, top) : 0);
                    for (std::size_t j = 0; j < std::size(grids); ++j)
                        wanted[3 + j].push_back(top > 0 ? rounding_variance(plain, part, grid_step(scale, grids[j]))
                                                        : 0);
                });
                auto const facts = facts_of_buckets(on, in(there), bucket, p, std::span(grids));
                std::vector<double> all;
                for (auto const& one : wanted) all.insert(all.end(), one.begin(), one.end());
                CHECK(both::same_bits(std::vector<double>(facts.begin(), facts.end()), all));
            }
    });
}

TEST_CASE_TEMPLATE("squares of all blocks are those that are asked for one by one", T, float, double) {
    device on;
    reference plain;
    both::each_finite_vector<T>([&](std::vector<T> const& x) {
        auto const there = both::there(on, x);
        for (std::size_t const block : {1u, 16u, 5000u, 100000u})
            for (double const unit : {1.0, 0x1p300}) {
                std::vector<double> wanted, wide(x.begin(), x.end());
                detail::each_bucket(in(wide), block, [&](std::size_t, std::size_t, auto part) {
                    wanted.push_back(sum_of_squares(plain, part, unit));
                });
                auto const squares = squares_of_blocks(on, in(there), block, unit);
                CHECK(both::same_bits(std::vector<double>(squares.begin(), squares.end()), wanted));
            }
    });
}

namespace {

// What each level keeps is the same to the bit.
template <class C, class T>
void keeps_as_on_the_host(C const& c, std::vector<T> const& x) {
    if (std::all_of(x.begin(), x.end(), [](T v) { return v == 0; })) return;
    device on;
    host cpu;
    auto const there = both::there(on, x);
    device::array<T> room;
    std::vector<T> room_here;
    std::vector<double> kept(levels<C>::count(c, x.size())), kept_here(kept);
    levels<C>::kept(on, c, in(there), room, std::span(kept));
    levels<C>::kept(cpu, c, in(x), room_here, std::span(kept_here));
    CHECK(both::same_bits(kept, kept_here));
}

}  // namespace

TEST_CASE_TEMPLATE("levels of quantizers and of blocks keep what they keep on the host", T, float, double) {
    both::each_finite_vector<T>([](std::vector<T> const& x) {
        for (std::size_t const bucket : {0u, 1u, 64u, 5000u})
            for (auto const p : {p_norm::one, p_norm::two, p_norm::largest})
                keeps_as_on_the_host(damped_quantize{1, bucket, p}, x);
        for (std::size_t const block : {1u, 16u, 5000u}) keeps_as_on_the_host(top_blocks<>{1, block}, x);
    });
}
