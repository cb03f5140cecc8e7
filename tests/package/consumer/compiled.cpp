// SPDX-License-Identifier: Apache-2.0
// A program of another project finds an optimum by a method that is read from a text.
#include <cstdio>
#include <laconic/comm/threads.hpp>
#include <laconic/compiled.hpp>
#include <span>
#include <vector>

struct bowl {
    double centre;
    std::size_t dimension() const { return 10; }
    double value(std::span<double const> x) const { return (x[0] - centre) * (x[0] - centre) / 2; }
    void gradient(std::span<double const> x, std::span<double> g) const {
        for (std::size_t j = 0; j < x.size(); ++j) g[j] = x[j] - centre;
    }
    double smoothness() const { return 1; }
    double strong_convexity() const { return 1; }
};

int main() {
    laconic::threads::run(4, [](auto& comm) {
        std::vector<double> x(10);
        laconic::compiled::descend("diana(natural)", bowl{1.0 * comm.rank()}, x, comm, {.rounds = 500, .seed = 0});
        if (comm.rank() == 0) std::printf("%g\n", x[0]);
    });
}
