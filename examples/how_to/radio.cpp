// SPDX-License-Identifier: Apache-2.0
// What a round over a chain of radios pays.
#include <cstdio>
#include <laconic/comm/topology.hpp>
#include <laconic/core/key.hpp>

int main() {
    laconic::graph_schedule places({.refresh = 1}, 10, laconic::key{1});  // ten radios within 250 m x 250 m
    auto const at = places.positions_of(1);
    laconic::chain_builder chain;
    auto const order = chain(laconic::chain_by::nearest, at, laconic::key{});
    for (double const bits : {64. * 8, 128 + 4. * 8})
        std::printf("%3.0f bits a message: %.1f J\n", bits,
                    laconic::radio{}.chain(at, order, bits, laconic::radio_pays::farthest_neighbour));
}
