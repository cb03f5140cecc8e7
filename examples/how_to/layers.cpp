// SPDX-License-Identifier: Apache-2.0
// Two layers, one of them in full; a loss scaler that halves its scale where a gradient overflows.
#include <cmath>
#include <cstdio>
#include <laconic/reduce.hpp>
#include <limits>
#include <vector>

int main() {
    laconic::threads::run(4, [](auto& comm) {
        std::vector<float> weight(1000), bias(10);
        laconic::reducer reduce(laconic::error_feedback{laconic::top_k{0.01}}, comm,
                                {{"head.weight", weight.size()}, {"head.bias", bias.size()}},
                                {.non_finite = laconic::on_non_finite::propagate, .in_full = {"*.bias"}});
        float scale = 1024;
        for (int step = 0; step < 3; ++step) {
            weight.assign(1000, 0.5f * scale);
            bias.assign(10, 0.25f * scale);
            if (step == 1 && comm.rank() == 2) weight[7] = std::numeric_limits<float>::infinity();  // it overflowed
            reduce.start(1, bias, {.loss_scale = scale});  // as the backward pass has them
            reduce.start(0, weight, {.loss_scale = scale});
            reduce.finish();
            bool const skipped = std::isnan(bias[0]);  // on all ranks, and nothing has changed
            if (comm.rank() == 0)
                std::printf("step %d, scale %g: %s\n", step, scale, skipped ? "skipped" : "taken");
            if (skipped) scale /= 2;
        }
    });
}
