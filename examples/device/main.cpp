// SPDX-License-Identifier: Apache-2.0
// Trains a perceptron on Fashion-MNIST on the device of Thrust: a GPU, or the processor as if it were one. Gradients,
// messages and memories stay there; what travels between the ranks are the messages' bytes.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "common/files.hpp"
#include "common/output.hpp"
#include "common/program.hpp"
#include "common/whole_number.hpp"
#include "laconic/objective/idx.hpp"
#include "laconic/objective/perceptron.hpp"
#include "task.hpp"

namespace {

using namespace laconic;

dataset<float> half(std::string const& folder, std::string const& which) {
    auto const name = [&](char const* what) { return folder + "/" + which + "-" + what + "-ubyte.gz"; };
    auto const images = name("images-idx3"), labels = name("labels-idx1");
    std::istringstream image_bytes(files::read_unpacked(images)), label_bytes(files::read_unpacked(labels));
    return idx_dataset<float>(read_idx_images(image_bytes, images), read_idx_labels(label_bytes, labels), which);
}

}  // namespace

int main(int argc, char** argv) {
    std::string folder = "/usr/share/datasets/fashion-mnist";
    std::vector<std::string> methods = on_device::methods();
    std::uint64_t rounds = 200;
    std::size_t batch = 32, hidden = 32, ranks = 4;
    CLI::App app("Trains a perceptron on Fashion-MNIST on the device.", "on_device");
    app.add_option("--data", folder, "where the files of Fashion-MNIST lie")->capture_default_str();
    app.add_option("--methods", methods, "which of sgd, top-k, diana")->delimiter(',')->capture_default_str();
    add_whole_number<std::uint64_t>(app, "--rounds", rounds, 1, "how many rounds");
    add_whole_number<std::size_t>(app, "--batch", batch, 1, "rows in a rank's mini-batch", 1'000'000'000);
    add_whole_number<std::size_t>(app, "--hidden", hidden, 1, "units between", 1'000'000);
    add_whole_number<std::size_t>(app, "--ranks", ranks, 1, "how many ranks share the rows", 64);
    return output::run_program(app, argc, argv, [&] {
        if (!on_device::is_there()) {
            output::print("there is no device\n");
            return 77;
        }
        perceptron<float> const training(half(folder, "train"), hidden), test(half(folder, "t10k"), hidden);
        Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> const rows(training.data().rows);
        std::vector<std::uint32_t> places;  // the classes are 0 to 9
        for (float const label : training.data().labels) places.push_back(static_cast<std::uint32_t>(label));
        std::size_t const share = training.samples() / ranks, features = training.features();
        std::span<float const> const numbers(rows.data(), static_cast<std::size_t>(rows.size()));
        std::vector<on_device::task> shares;
        for (std::size_t r = 0; r < ranks; ++r)
            shares.push_back({features, hidden, training.classes().size(),
                              numbers.subspan(r * share * features, share * features),
                              std::span(places).subspan(r * share, share)});

        output::print(fmt::format("{} ranks, {} weights, {} rounds\n", ranks, training.dimension(), rounds));
        output::print(fmt::format("{:8}{:>10}{:>12}{:>18}\n", "method", "accuracy", "its loss", "bits per number"));
        for (auto const& method : methods) {
            auto const o = on_device::train(method, shares, training.initial_point(key{1}), rounds, batch);
            output::print(fmt::format("{:8}{:>8.1f} %{:>12.4f}{:>18.3f}\n", method,
                                      100 * test.accuracy(std::span<float const>(o.x)), o.loss, o.bits_per_number));
        }
        return 0;
    });
}
