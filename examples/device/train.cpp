// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "laconic/comm/metered.hpp"
#include "laconic/comm/threads.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/descent.hpp"
#include "laconic/estimate/estimator.hpp"
#include "perceptron.hpp"

namespace on_device {

namespace {

using namespace laconic;
using feedback = memory<float, device>;

// The loop, and the only place that knows of the device: arrays are made there, and the backend is named.
template <class R>
outcome run(R const& method, std::vector<task> const& shares, std::vector<float> const& start, std::uint64_t rounds) {
    outcome result;
    threads::run(static_cast<int>(shares.size()), [&](threads::member& all) {
        metered comm(all);
        perceptron const f(shares[static_cast<std::size_t>(comm.rank())]);
        device on;
        device::array<float> x(start.size());
        copy_from_host(on, std::span<float const>(start), std::span<float>(x));
        descent<R, perceptron, decltype(comm), float, device> training(method, f, comm, std::span<float>(x), 1);
        auto const before = comm.bytes_sent();
        for (std::uint64_t round = 0; round < rounds; ++round) training.round();
        if (comm.rank() > 0) return;
        result.x.resize(start.size());
        copy_to_host(on, std::span<float const>(x), std::span<float>(result.x));
        result.loss = f.value(std::span<float const>(x));
        result.bits_per_number = 8 * static_cast<double>(comm.bytes_sent() - before) / static_cast<double>(rounds) /
                                 static_cast<double>(start.size());
    });
    return result;
}

}  // namespace

std::vector<std::string> methods() { return {"sgd", "top-k", "diana"}; }

outcome train(std::string const& method, std::vector<task> const& shares, std::vector<float> x, std::uint64_t rounds,
              std::size_t batch) {
    gradient_step const step{0.1};
    mini_batch const some(batch);
    if (method == "sgd")
        return run(recursion<identity, feedback, gradient_step>{identity{}, {}, step, {}, some}, shares, x, rounds);
    if (method == "top-k")
        return run(recursion<top_k<>, feedback, gradient_step>{top_k{0.01}, feedback(0, 1), step, {}, some}, shares, x,
                   rounds);
    if (method == "diana") {
        quantize const q{7, 512};
        return run(
            recursion<quantize, feedback, gradient_step>{q, feedback(1 / (1 + q.omega(x.size()))), step, {}, some},
            shares, x, rounds);
    }
    throw argument_error("method = " + method + " is none of sgd, top-k, diana");
}

bool is_there() { return device::is_there(); }

}  // namespace on_device
