// SPDX-License-Identifier: Apache-2.0
// What README.md, docs/reducer.md and docs/compressors.md show that is no part of an example compiles:
// cmake/check_readme.cmake finds their lines here.
#include <doctest/doctest.h>

#include <cstddef>
#include <laconic/laconic.hpp>
#include <laconic/wire/described.hpp>
#include <span>
#include <string>
#include <vector>

namespace {

std::vector<float> first_model() { return std::vector<float>(3); }
void backward(std::vector<float> const&, std::vector<float>& gradient) { gradient.assign(3, 1); }
struct {
    void step(std::vector<float>&, std::vector<float> const&) const {}
} const optimizer, adam;

[[maybe_unused]] void readme() {
    // clang-format off
    laconic::threads::run(4, [](auto& comm) {  // four ranks as threads; laconic::mpi::run for processes
        auto model = first_model();  // its own on each rank, and alike at first
        std::vector<float> gradient(model.size());
        laconic::error_feedback reduction{laconic::top_k{0.01}};  // sends the largest 1 % of the numbers
        laconic::reducer reduce(reduction, comm, gradient);
        for (;;) {
            backward(model, gradient);
            reduce(gradient);  // in place: an estimate of all ranks' mean, the same on each rank
            optimizer.step(model, gradient);
        }
    });
    // clang-format on
}

[[maybe_unused]] void loop(laconic::threads::member& comm, std::vector<float>& model, std::vector<float>& gradient) {
    laconic::reducer reduce(laconic::error_feedback{laconic::top_k{0.01}}, comm, gradient);
    for (;;) {
        backward(model, gradient);
        reduce(gradient);
        adam.step(model, gradient);
    }
}

// The estimates of eight ranks whose numbers are their own.
void on_all(auto body) {
    laconic::threads::run(8, [&](laconic::threads::member& comm) { body(comm, float(comm.rank())); });
}

}  // namespace

TEST_CASE("what docs/reducer.md shows of options, layers, rules and nodes") {
    laconic::error_feedback const how{laconic::top_k{0.5}};
    on_all([](auto& comm, float own) {
        std::vector<float> gradient(100, own);
        laconic::plain<> const reduction;
        laconic::reducer reduce(reduction, comm, gradient,
                                {.seed = 1, .non_finite = laconic::on_non_finite::propagate});
        reduce(gradient);
        CHECK(gradient[99] == 3.5f);
    });
    on_all([&](auto& comm, float own) {
        std::vector<float> conv_weight(1600, own), conv_bias(64, own), head_weight(640, own);
        laconic::reducer reduce(how, comm, {{"conv.weight", 25 * 64}, {"conv.bias", 64}, {"head.weight", 640}});
        reduce.start(2, head_weight);  // as the backward pass has them
        reduce.start(1, conv_bias);
        reduce.start(0, conv_weight);
        reduce.finish();
        CHECK(head_weight[0] == 3.5f);
    });
    on_all([&](auto& comm, float own) {
        std::vector<std::vector<float>> gradients(3, std::vector<float>(10, own));
        std::vector<laconic::layer> const layers{{"a", 10}, {"b", 10}, {"c", 10}};
        laconic::reducer reduce(how, comm, layers, {.missing_layer = laconic::on_missing_layer::zero});
        for (std::size_t l = 0; l < layers.size(); ++l) reduce.bind(l, gradients[l]);
        // in each step
        reduce.start(2, gradients[2]);  // on this rank only
        reduce.finish();                // every rank's gradients[0 .. 2] are the estimates
        CHECK(gradients[1][0] == 0);
        CHECK(gradients[2][0] == 3.5f);
    });
    on_all([&](auto& comm, float own) {
        std::vector<laconic::layer> const layers{{"conv.weight", 25 * 64, 64}};
        laconic::reducer reduce(laconic::error_feedback{laconic::low_rank<>{.rank = 2}}, comm, layers);
        CHECK(reduce.layers()[0].reduction().compressor.rows == 64);
        std::vector<float> conv_weight(25 * 64, own);
        reduce(conv_weight);
        CHECK(conv_weight[0] == doctest::Approx(3.5));
    });
    on_all([&](auto& comm, float own) {
        std::vector<laconic::layer> const layers{{"conv.weight", 25 * 64, 64}};
        laconic::shared_factors const over{.rank = 2};
        laconic::reducer reduce(laconic::error_feedback{laconic::identity{}, 1, over}, comm, layers);
        CHECK(reduce.layers()[0].reduction().over.rows == 64);
        std::vector<float> conv_weight(25 * 64, own);
        reduce(conv_weight);
        CHECK(conv_weight[0] == doctest::Approx(3.5));
    });
    on_all([](auto& comm, float own) {
        std::vector<float> gradient(100, own);
        std::vector<laconic::layer> const layers{{"a", 100}};
        auto const rule = [](laconic::layer const& l) {
            return laconic::error_feedback{laconic::top_k{l.size < 100000 ? 0.1 : 0.01}};
        };
        laconic::reducer reduce(rule, comm, layers);
        reduce(gradient);
        CHECK(gradient[9] == 3.5f);
        CHECK(gradient[10] == 0);
    });
    on_all([](auto& comm, float own) {
        std::vector<float> gradient(400, own);
        auto inside = comm.split(comm.rank() / 4, 0), across = comm.split(comm.rank() % 4, 0);
        laconic::hierarchy nodes{inside, across};
        laconic::reducer reduce(laconic::error_feedback{laconic::top_k{0.01}}, nodes, gradient);
        reduce(gradient);
        CHECK(gradient[0] == 3.5f);
        CHECK(gradient[1] == 0);
    });
}

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
