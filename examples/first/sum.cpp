// SPDX-License-Identifier: Apache-2.0
// Four ranks add up a vector.
#include <cstdio>
#include <laconic/comm/threads.hpp>
#include <laconic/sum.hpp>
#include <vector>

int main() {
    laconic::threads::run(4, [](auto& comm) {
        std::vector<float> x(1000, 1.0f);
        laconic::sum(comm, x);  // in place: every x[i] is now 4
        if (comm.rank() == 0) std::printf("sum: %g\n", x[999]);
    });
}
