// SPDX-License-Identifier: Apache-2.0
// A type is a `Backend` if every kernel is found for it by argument-dependent lookup, derived types included.
#include "laconic/backend/backend.hpp"

#include "support/everything.hpp"

// Has arrays, but no kernel is found for it.
struct no_kernels {
    template <class T>
    using array = std::vector<T>;
};

// One that wraps the host is a backend as soon as it is a host.
struct my_host : host {};

static_assert(kernels::Backend<host, float> && kernels::Backend<host, double>);
static_assert(!kernels::Backend<host, int> && !kernels::Backend<host, long double>);
static_assert(!kernels::Backend<no_kernels, double> && !kernels::Backend<int, double> && !kernels::Backend<host const, double>);

TEST_CASE("kernels are found by argument-dependent lookup, for what derives from a backend too") {
    static_assert(kernels::Backend<my_host, double>);
    my_host on;
    std::vector<double> const x{3, -4};
    CHECK(sum_of_squares(on, std::span<double const>(x)) == 25);
}
