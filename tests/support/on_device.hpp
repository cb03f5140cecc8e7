// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/backend/device.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "laconic/comm/fibers.hpp"
#include "laconic/descent.hpp"
#include "support/laws/descent_on.hpp"
#include "support/nccl_ranks.hpp"
#include "support/sparse_vectors.hpp"

// Exchanges whose vectors stay on the device, over NCCL or its stand-in, beside the same on the host over fibers.
namespace on_device {

using namespace laconic;

/// The backend for a stream. Where Thrust's system is the processor it has none, and all is done in order.
template <class B = device>
B made_for(cudaStream_t stream) {
    if constexpr (std::is_constructible_v<B, cudaStream_t>)
        return B(stream);
    else
        return B();
}
inline constexpr bool own_streams = std::is_constructible_v<device, cudaStream_t>;

/// body(comm, on) on all ranks, where the body leaves no exception.
template <class Body>
void run(int ranks, Body body) {
    nccl_ranks::run(
        ranks,
        [&](nccl& comm) {
            auto on = made_for(comm.stream());
            body(comm, on);
        },
        {}, own_streams);
}

template <class T>
sparse_sum<T, device> taken(device& on, sparse_sum<T> const& v) {
    sparse_sum<T, device> there;
    there.assign(on, v.dimension(), v.support(), v.values());
    return there;
}
template <class T>
sparse_sum<T> brought(device& on, sparse_sum<T, device> const& v) {
    std::vector<coordinate> at(v.size());
    std::vector<T> values(v.size());
    copy_to_host(on, v.support(), std::span(at));
    copy_to_host(on, v.values(), std::span(values));
    sparse_sum<T> here(v.dimension());
    for (std::size_t j = 0; j < at.size(); ++j) here.append(at[j], values[j]);
    return here;
}

/// Over fibers on the host, and over NCCL on the device: make(backend) is the method. Equal on all ranks, or empty.
template <class Make>
bool same_iterates(int ranks, std::size_t d, std::uint64_t rounds, Make make) {
    std::vector<double> expected;
    fibers::run(ranks, [&](fibers::member& comm) {
        host on;
        auto const all = laws::iterates_of<host>(make(std::type_identity<host>{}), comm, on, d, rounds);
        if (comm.rank() == 0) expected = all;
    });
    std::vector<std::vector<double>> received(static_cast<std::size_t>(ranks));
    run(ranks, [&](nccl& comm, device& on) {
        received[static_cast<std::size_t>(comm.rank())] =
            laws::iterates_of<device>(make(std::type_identity<device>{}), comm, on, d, rounds);
    });
    return expected.size() == d * rounds && received == std::vector<std::vector<double>>(received.size(), expected);
}

}  // namespace on_device
