// SPDX-License-Identifier: Apache-2.0
// A training loop of one's own, where reduce() stands in place of the dense all-reduce: a network of two layers, by
// hand, learns whether a point lies within a ring. Four ranks have points of their own and send one message a layer.
#include <cstdio>
#include <vector>

#include "laconic/comm/metered.hpp"
#include "laconic/comm/threads.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/reducer.hpp"
#include "network.hpp"

namespace {

// Trains with this reduction; the share of all ranks' points that are classified right.
template <class Reduction>
double train(char const* name, Reduction const& how) {
    double accuracy = 0;
    laconic::threads::run(4, [&](laconic::threads::member& comm) {
        auto const mine = own::points_of(comm.rank());
        own::network net = own::fresh(), gradient;
        laconic::metered wire(comm);
        laconic::reducer reduce(how, wire, {{"first", net.first.size()}, {"second", net.second.size()}});
        int const steps = 3000;
        for (int step = 0; step < steps; ++step) {
            gradient = {};
            int right = 0;
            for (std::size_t i = 0; i < own::batch; ++i)
                own::backward(net, mine[(std::size_t(step) * own::batch + i) % own::points], gradient, right);
            reduce.start(1, gradient.second);  // in the order in which a backward pass has them
            reduce.start(0, gradient.first);
            reduce.finish();
            own::step(net, gradient);
        }
        double const bytes = double(wire.bytes_sent()) / steps;
        std::vector<float> share(2);
        int right = 0;
        for (auto const& p : mine) share[0] += own::backward(net, p, gradient, right) / float(own::points);
        share[1] = float(right) / float(own::points);
        laconic::reducer mean(laconic::plain{}, comm, share);  // of all ranks
        mean(share);
        if (comm.rank() == 0)
            std::printf("%-24s %6.1f bytes a step, loss %.3f, accuracy %.3f\n", name, bytes, share[0], share[1]);
        if (comm.rank() == 0) accuracy = share[1];
    });
    return accuracy;
}

}  // namespace

int main() {
    double const dense = train("dense", laconic::plain{});
    double const sparse = train("top-k, 2 %", laconic::error_feedback{laconic::top_k{0.02}});
    return dense > 0.9 && sparse > dense - 0.03 ? 0 : 1;
}
