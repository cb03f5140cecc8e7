// SPDX-License-Identifier: Apache-2.0
// An installed laconic finds the two largest numbers on the device.
#include <laconic/backend/device.hpp>

#include <iostream>
#include <span>
#include <vector>

// Prints the places of the two largest of four numbers, found on the device.
int main() {
    laconic::device on;
    std::vector<float> const here{1, 0, -4, 3};
    laconic::device::array<float> x(here.size());
    copy_from_host(on, std::span<float const>(here), std::span<float>(x));
    laconic::device::array<laconic::coordinate> places;
    select_largest(on, std::span<float const>(x), 2, places);
    for (auto const place : on_host(on, std::span<laconic::coordinate const>(places))) std::cout << place << '\n';
}
