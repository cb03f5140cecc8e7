// SPDX-License-Identifier: Apache-2.0
// What README.md and docs/compressors.md show in part compiles: cmake/check_readme.cmake finds their lines here.
#include <doctest/doctest.h>

#include <cstddef>
#include <laconic/laconic.hpp>
#include <laconic/wire/described.hpp>
#include <span>
#include <vector>

namespace {

std::vector<float> first_model() { return std::vector<float>(3); }
void backward(std::vector<float> const&, std::vector<float>& gradient) { gradient.assign(3, 1); }
struct {
    void step(std::vector<float>&, std::vector<float> const&) const {}
} const optimizer;

[[maybe_unused]] void readme() {
    laconic::threads::run(4, [](auto& comm) {  // four ranks as threads; laconic::mpi::run for processes
        auto model = first_model();  // each rank has a model and a gradient of its own; all models begin alike
        std::vector<float> gradient(model.size());
        laconic::error_feedback reduction{laconic::top_k{0.01}};  // sends the largest 1 % of the numbers
        laconic::reducer reduce(reduction, comm, gradient);
        for (;;) {
            backward(model, gradient);
            reduce(gradient);  // in place: an estimate of all ranks' mean, the same on each rank
            optimizer.step(model, gradient);
        }
    });
}

}  // namespace

TEST_CASE("what docs/compressors.md shows of a message's cost") {
    using namespace laconic;
    std::vector<float> x(1000), y(1000);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = float(i);
    auto const m = compress(top_k{0.01} | natural{}, x, key{1});
    auto const paid = account(m);  // paid.values(), paid.positions(), paid.scalars(), paid.header(), paid.bits()
    auto const file = write_described(m);  // bytes for a file or a stranger, with a checksum
    read_described(file, {.dimension = 1 << 20}).add_to(std::span(y));  // throws wire_error for anything else
    CHECK(paid.bits() == paid.values() + paid.positions() + paid.scalars() + paid.header());
    CHECK(y[999] >= 512);
    CHECK(y[989] == 0);
}
