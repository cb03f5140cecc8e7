// SPDX-License-Identifier: Apache-2.0
// An installed laconic compiles where a header needs Eigen and one needs xsimd, and has its version.
// All headers, which take thrice the time, are in the test `copied`.
#include <laconic/backend/host.hpp>
#include <laconic/core/version.hpp>
#include <laconic/objective/linear_model.hpp>

#include <iostream>

int main() {
    std::cout << laconic::version[0] << '.' << laconic::version[1] << '.' << laconic::version[2] << '\n';
}
