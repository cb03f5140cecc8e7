// SPDX-License-Identifier: Apache-2.0
#include <laconic/laconic.hpp>

#include <iostream>

int main() {
    std::cout << laconic::version_major << '.' << laconic::version_minor << '.' << laconic::version_patch << '\n';
}
