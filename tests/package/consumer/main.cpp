// SPDX-License-Identifier: Apache-2.0
// A header that needs Eigen and one that needs xsimd. All headers, which take thrice the time, are in the test `copied`.
#include <laconic/backend/host.hpp>
#include <laconic/core/version.hpp>
#include <laconic/objective/linear_model.hpp>

#include <iostream>

int main() {
    std::cout << laconic::version_major << '.' << laconic::version_minor << '.' << laconic::version_patch << '\n';
}
