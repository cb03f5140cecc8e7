// SPDX-License-Identifier: Apache-2.0
// Two nodes of four ranks: in full inside a node, compressed between nodes.
#include <cstdio>
#include <laconic/hierarchy.hpp>
#include <laconic/reduce.hpp>
#include <vector>

int main() {
    laconic::threads::run(8, [](auto& comm) {
        int const node = comm.rank() / 4;
        auto within = comm.split(node, 0), between = comm.split(comm.rank() % 4, 0);
        laconic::metered inside(within), across(between);
        std::vector<float> gradient(10000, static_cast<float>(comm.rank()));
        laconic::reducer reduce(laconic::error_feedback{laconic::top_k{0.01}}, laconic::hierarchy{inside, across},
                                gradient);
        reduce(gradient);
        if (comm.rank() == 0)
            std::printf("%zu bytes in the node, %zu between nodes\n", std::size_t(inside.bytes_sent()),
                        std::size_t(across.bytes_sent()));
    });
}
