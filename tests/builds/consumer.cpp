// SPDX-License-Identifier: Apache-2.0
// What a user's program instantiates: methods over threads, and messages that describe themselves, written and read.
// consumer.sh compiles it with the flags that users have, beside the namespaces that they open.
#include <bits/stdc++.h>
#include <Eigen/Dense>
#include <laconic/all.hpp>

using namespace std;
using namespace Eigen;
using namespace laconic;

struct bowl {
    double c;
    std::size_t dimension() const { return 100; }
    double value(std::span<double const> x) const {
        double sum = 0;
        for (double const v : x) sum += (v - c) * (v - c) / 2;
        return sum;
    }
    void gradient(std::span<double const> x, std::span<double> g) const {
        for (std::size_t i = 0; i < x.size(); ++i) g[i] = x[i] - c;
    }
    double smoothness() const { return 1; }
    double strong_convexity() const { return 1; }
};

template <class M>
void descends(M const& method) {
    threads::run(2, [&](auto& comm) {
        metered wire(comm);
        std::vector<double> x(100);
        descend(method, bowl{1.0 * comm.rank()}, x, wire, {.rounds = 10, .seed = 0});
        if (comm.rank() == 0) std::printf("%g after %g bytes\n", x[0], static_cast<double>(wire.bytes_sent()));
    });
}

template <class C>
void described(C const& c) {
    std::vector<float> const x(1000, 1.5f);
    std::printf("%zu numbers\n", read_described(write_described(compress(c, x, key{1}))).values.size());
}

int main() {
    descends(diana{rand_k{0.1} | natural{}});
    descends(ef21{top_k{0.05}});
    described(top_k{0.1} | natural{});
    described(quantize{4});
    described(rand_k{0.1});
    described(fp16{});
    described(top_k{0.1} | bf16{});
    described(scaled_sign{});
    described(quantize{4, 64, p_norm::largest});
    std::printf("%s\n", is_class_v<logistic_regression<>> ? "a class" : "none");
}
