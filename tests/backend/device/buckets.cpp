// SPDX-License-Identifier: Apache-2.0
//
// Every kernel of the device is its definition, to the bit; those of lists stand in lists.cpp.
// Also tests blocks.hpp, matrix.hpp, reduce.hpp, sample.hpp, update.hpp
#include "laconic/backend/device/buckets.hpp"

#include "laconic/backend/device.hpp"
#include "support/laws/kernels.hpp"

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
