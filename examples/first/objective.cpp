// SPDX-License-Identifier: Apache-2.0
// Four workers minimise the mean of their objectives by DIANA.
#include <cstdio>
#include <laconic/laconic.hpp>
#include <numeric>

struct bowl {  // worker c minimises |x - c|^2 / 2; together they look for the mean of all c
    double c;
    std::size_t dimension() const { return 1000; }
    double value(std::span<double const> x) const {
        return std::accumulate(x.begin(), x.end(), 0.0,
                               [&](double sum, double v) { return sum + (v - c) * (v - c) / 2; });
    }
    void gradient(std::span<double const> x, std::span<double> g) const {
        for (std::size_t i = 0; i < x.size(); ++i) g[i] = x[i] - c;
    }
    double smoothness() const { return 1; }
    double strong_convexity() const { return 1; }
};

int main() {
    laconic::threads::run(4, [](auto& comm) {  // the same lines on each of 4 workers, as with MPI
        laconic::metered wire(comm);
        std::vector<double> x(1000);
        descend(laconic::diana{laconic::rand_k{0.1} | laconic::natural{}}, bowl{1.0 * comm.rank()}, x, wire,
                {.rounds = 1000, .seed = 0});
        if (comm.rank() == 0) std::printf("x = %.9f ..., %.1f bytes a round\n", x[0], double(wire.bytes_sent()) / 1000);
    });
}
