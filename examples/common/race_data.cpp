// SPDX-License-Identifier: Apache-2.0
#include "race_data.hpp"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "drawn.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/key.hpp"
#include "laconic/objective/idx.hpp"
#include "laconic/objective/libsvm.hpp"

namespace race {
namespace {

laconic::dataset<double> fashion_mnist() {
    std::string const folder = "/usr/share/datasets/fashion-mnist/";
    std::string const images = folder + "train-images-idx3-ubyte.gz", labels = folder + "train-labels-idx1-ubyte.gz";
    if (!std::ifstream(images))
        throw laconic::file_error(images, 0, 0,
                                  "not there; Debian's package dataset-fashion-mnist brings it, or give --data FILE");
    std::istringstream image_bytes(files::read_unpacked(images)), label_bytes(files::read_unpacked(labels));
    auto const all = laconic::idx_dataset<double>(laconic::read_idx_images(image_bytes, images),
                                                  laconic::read_idx_labels(label_bytes, labels), "fashion-mnist");
    return laconic::only_classes(all, 0.0, 6.0);  // T-shirt/top against shirt: the pair that is hardest to tell apart
}

// A noisy linear rule on features of falling scale. Each block of 200 rows has a mean of its own, so that workers
// differ.
laconic::dataset<double> synthetic(std::uint64_t seed) {
    constexpr std::size_t rows = 4000, features = 200, block = 200;
    laconic::key const k = laconic::key{seed}.child(0x73796e74);
    laconic::key const rule = k.child(0), noise = k.child(1), shift = k.child(2), value = k.child(3);
    return drawn::data("synthetic", rows, features, [&](std::size_t j, std::vector<double>& x) {
        double z = drawn::normal(noise, j);
        for (std::size_t i = 0; i < features; ++i) {
            double const scale = 1 / std::sqrt(1.0 + static_cast<double>(i));
            x[i] = scale * (drawn::normal(value.child(j), i) + drawn::normal(shift.child(j / block), i));
            z += x[i] * drawn::normal(rule, i);
        }
        return z > 0 ? 1 : -1;
    });
}

}  // namespace

laconic::dataset<double> load(std::string const& data, std::uint64_t seed, files::limit const& most,
                              laconic::libsvm_format const& how) {
    if (data == "fashion-mnist") return fashion_mnist();
    if (data == "synthetic") return synthetic(seed);
    if (std::error_code why; !std::filesystem::exists(data, why) && !why)
        throw laconic::file_error(data, 0, 0,
                                  "No such file; --data takes fashion-mnist, synthetic or the name of a file");
    return laconic::read_libsvm<double>(std::string_view(files::read_unpacked(data, most)), data, how);
}

}  // namespace race
