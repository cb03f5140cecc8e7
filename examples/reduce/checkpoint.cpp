// SPDX-License-Identifier: Apache-2.0
// A training loop that stops and goes on from saved states, on as many ranks and on more.
#include <cmath>
#include <cstdio>
#include <laconic/laconic.hpp>
#include <vector>

using states = std::vector<std::vector<std::byte>>;  // of all ranks, in their order; in a real program, files

// Trains the model, from the states of an earlier run where there are any, and saves the states of this one.
void train(int ranks, std::vector<float>& model, states& saved) {
    states const earlier = saved;
    saved.resize(static_cast<std::size_t>(ranks));
    laconic::threads::run(ranks, [&](auto& comm) {
        std::vector<float> x = model, gradient(x.size());
        laconic::reducer reduce(laconic::ef21_shift{laconic::top_k{2}}, comm, gradient);
        if (!earlier.empty()) reduce.restore(earlier);  // on as many ranks bit for bit, on others the mean shift
        for (int step = 0; step < 500; ++step) {
            for (std::size_t i = 0; i < x.size(); ++i) gradient[i] = x[i] - static_cast<float>(comm.rank());
            reduce(gradient);
            for (std::size_t i = 0; i < x.size(); ++i) x[i] -= 0.1f * gradient[i];
        }
        saved[static_cast<std::size_t>(comm.rank())] = reduce.save();  // between steps
        if (comm.rank() == 0) std::printf("%d ranks, step %zu: %.3f\n", ranks, std::size_t(reduce.steps()), x[0]);
        if (comm.rank() == 0) model = x;  // which is the same on all ranks
    });
}

int main() {
    std::vector<float> model(8);
    states saved;
    train(4, model, saved);
    train(4, model, saved);
    train(6, model, saved);
    return std::abs(model[0] - 2.5f) < 0.01f ? 0 : 1;
}
