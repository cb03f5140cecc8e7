// SPDX-License-Identifier: Apache-2.0
// Trains a perceptron on Fashion-MNIST with libtorch, ranks as processes: torch computes gradients and takes the steps,
// a reducer makes the ranks' mean; once in full, and once in short messages.
//
//     mpirun -n 4 libtorch [STEPS]
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <laconic/comm/mpi.hpp>
#include <laconic/compress/quantize.hpp>
#include <laconic/objective/idx.hpp>
#include <laconic/reduce.hpp>
#include <numbers>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "common/files.hpp"

namespace {

struct pictures {
    torch::Tensor pixels, labels;
};

pictures read(std::string const& which) {
    std::string const path = "/usr/share/datasets/fashion-mnist/" + which;
    std::istringstream images(files::read_unpacked(path + "-images-idx3-ubyte.gz"));
    std::istringstream labels(files::read_unpacked(path + "-labels-idx1-ubyte.gz"));
    auto from = laconic::read_idx_images(images, path);
    auto of = laconic::read_idx_labels(labels, path);
    auto const n = static_cast<std::int64_t>(from.count);
    return {torch::from_blob(from.pixels.data(), {n, 784}, torch::kUInt8).to(torch::kFloat) / 255 - 0.3,
            torch::from_blob(of.data(), {n}, torch::kUInt8).to(torch::kLong)};
}

std::span<float> numbers(torch::Tensor const& t) { return {t.data_ptr<float>(), static_cast<std::size_t>(t.numel())}; }

template <class Reduction>
void train(char const* name, Reduction const& how, laconic::mpi::member& comm, int steps, pictures const& mine,
           pictures const& test) {
    torch::manual_seed(std::uint64_t(comm.rank()));  // of first weights and of batches
    torch::nn::Sequential model(torch::nn::Linear(784, 128), torch::nn::ReLU(), torch::nn::Linear(128, 10));
    std::vector<torch::Tensor> const parameters = model->parameters();
    std::vector<laconic::layer> layers;
    for (auto const& p : model->named_parameters()) layers.emplace_back(p.key(), p.value().numel());
    laconic::reducer reduce(how, comm, layers, {.seed = 1, .in_full = {"*.bias"}});
    for (auto const& p : parameters) reduce.broadcast(numbers(p));  // rank 0's first weights

    torch::optim::SGD optimizer(parameters, torch::optim::SGDOptions(0.1).momentum(0.9));
    for (int k = 0; k < steps; ++k) {
        auto const batch = torch::randint(mine.labels.size(0), {32}, torch::kLong);
        optimizer.zero_grad();
        auto const loss = torch::nn::functional::cross_entropy(model->forward(mine.pixels.index({batch})),
                                                               mine.labels.index({batch}));
        loss.backward();
        for (std::size_t l = layers.size(); l-- > 0;) reduce.start(l, numbers(parameters[l].grad()));
        reduce.finish();  // every gradient is now the estimate of all ranks' mean
        auto& options = static_cast<torch::optim::SGDOptions&>(optimizer.param_groups()[0].options());
        options.lr(0.05 * (1 + std::cos(std::numbers::pi * k / steps)));
        optimizer.step();
    }
    torch::NoGradGuard const none;
    std::vector<std::int64_t> right(std::size_t(comm.size()));  // of each rank's model, which are to be equal
    right[std::size_t(comm.rank())] = model->forward(test.pixels).argmax(1).eq(test.labels).sum().item<std::int64_t>();
    laconic::sum(comm, right);
    bool const equal = std::count(right.begin(), right.end(), right[0]) == comm.size();
    auto const did = reduce.statistics();
    if (comm.rank() == 0)
        std::printf("%s: %.2f %% right, %.0f bytes a step of %.0f, %s models\n", name,
                    100 * double(right[0]) / double(test.labels.size(0)), double(did.bytes_sent) / double(did.steps),
                    double(did.bytes_in_full) / double(did.steps), equal ? "equal" : "different");
}

}  // namespace

int main(int argc, char** argv) {
    laconic::mpi::run(argc, argv, [&](laconic::mpi::member& comm) {
        int const steps = argc > 1 ? std::atoi(argv[1]) : 2000;
        torch::set_num_threads(1);  // a rank's
        auto all = read("train");
        auto const test = read("t10k");
        auto const share = all.labels.size(0) / comm.size(), first = share * comm.rank();
        pictures const mine{all.pixels.narrow(0, first, share), all.labels.narrow(0, first, share)};
        train("in full", laconic::plain{}, comm, steps, mine, test);
        train("short", laconic::error_feedback{laconic::top_k{0.1} | laconic::quantize{7, 128}}, comm, steps, mine,
              test);
    });
}
