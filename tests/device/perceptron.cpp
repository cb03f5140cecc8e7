// SPDX-License-Identifier: Apache-2.0
// The perceptron of the example on_device has the values and gradients of the library's.
#include "device/perceptron.hpp"

#include <Eigen/Core>

#include "laconic/objective/perceptron.hpp"
#include "support/test.hpp"

using namespace laconic;

TEST_CASE("values and gradients of a perceptron on the device are those of the library's") {
    constexpr std::size_t n = 30, features = 11, hidden = 7, classes = 4;
    std::vector<float> numbers(n * features);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(key{1}.uniform(i) - 0.3);
    std::vector<std::uint32_t> places(n);
    dataset<float> data{"drawn", {}, std::vector<float>(n)};
    for (std::size_t j = 0; j < n; ++j) data.labels[j] = static_cast<float>(places[j] = j % classes);
    using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    data.rows = Eigen::Map<matrix const>(numbers.data(), n, features).sparseView();

    perceptron<float> const here(data, hidden);
    on_device::perceptron const there({features, hidden, classes, numbers, places});
    REQUIRE(there.dimension() == here.dimension());
    auto const x = here.initial_point(key{2});
    device on;
    device::array<float> x_there(x.size()), g_there(x.size());
    copy_from_host(on, std::span<float const>(x), std::span<float>(x_there));
    std::span<float const> const at(x_there);
    CHECK(there.value(at) == doctest::Approx(here.value(std::span<float const>(x))).epsilon(1e-5));

    auto const same = [&](std::vector<std::uint32_t> const& rows) {
        std::vector<float> g(x.size()), brought(x.size());
        here.batch_gradient(rows, x, g);
        there.batch_gradient(rows, at, std::span<float>(g_there));
        copy_to_host(on, std::span<float const>(g_there), std::span<float>(brought));
        double apart = 0, size = 0;
        for (std::size_t i = 0; i < g.size(); ++i) {
            apart += std::pow(static_cast<double>(g[i]) - static_cast<double>(brought[i]), 2);
            size += std::pow(static_cast<double>(g[i]), 2);
        }
        CHECK(size > 0);
        CHECK(apart < 1e-10 * size);
    };
    same({3});
    same({0, 5, 5, 29, 12});
    std::vector<std::uint32_t> all(n);
    for (std::size_t j = 0; j < n; ++j) all[j] = static_cast<std::uint32_t>(j);
    same(all);
}
