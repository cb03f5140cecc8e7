// SPDX-License-Identifier: Apache-2.0
// Each pass in parts is its definition, to the bit.
#include "laconic/backend/threaded/passes.hpp"

#include <numeric>

#include "support/laws/kernels.hpp"

using laconic::threaded;

struct eager : threaded<> {
    explicit eager(int threads = 3) : threaded(threads) { split_from(1000); }
};

TEST_CASE_TEMPLATE("updates are the definition's", T, float, double) { kernel_laws::updates<eager, T>(); }
TEST_CASE_TEMPLATE("reductions are the definition's", T, float, double) { kernel_laws::reductions<eager, T>(); }
TEST_CASE_TEMPLATE("short codes are the definition's", T, float, double) { kernel_laws::short_codes<eager, T>(); }
TEST_CASE_TEMPLATE("buckets are the definition's", T, float, double) { kernel_laws::buckets<eager, T>(); }
TEST_CASE("words are the definition's") { kernel_laws::words<eager>(); }
