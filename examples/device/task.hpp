// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// What main.cpp, which reads files, and train.cpp, which is compiled for the device, exchange.
namespace on_device {

/// One rank's share of the data, on the host: rows of features one after another, and the place of each one's class.
struct task {
    std::size_t features, hidden, classes;
    std::span<float const> data;
    std::span<std::uint32_t const> places;
};

struct outcome {
    std::vector<float> x;        ///< the weights, on the host
    double loss = 0;             ///< of rank 0's share, worked out on the device
    double bits_per_number = 0;  ///< that a rank says, of each number of each gradient
};

/// The names of the methods that train() has.
std::vector<std::string> methods();

/// Trains from x on, each share on a rank of its own. Throws laconic::argument_error for another method.
outcome train(std::string const& method, std::vector<task> const& shares, std::vector<float> x, std::uint64_t rounds,
              std::size_t batch);

/// Whether there is a device.
bool is_there();

}  // namespace on_device
