// SPDX-License-Identifier: Apache-2.0
// Whether compression pays on a link, from what a message costs there and how fast this machine compresses.
#include <cstdio>
#include <laconic/reduce.hpp>
#include <laconic/simulate.hpp>

int main() {
    for (double const bits_per_second : {1e6, 1e15}) {
        laconic::message_cost const link = laconic::affine_cost(1 / bits_per_second, 20e-6);  // seconds a bit, and a message
        auto const answer = laconic::would_it_pay(link, 100000, 8, laconic::top_k{0.01}, {.seconds = 0.05});
        std::printf("%.0e bit/s: %s\n", bits_per_second, answer.pays ? "yes" : "no");
        std::fprintf(stderr, "%s\n", answer.why().c_str());
    }
}
