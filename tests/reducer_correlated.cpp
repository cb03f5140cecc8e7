// SPDX-License-Identifier: Apache-2.0
// With reducer_options::correlated the errors of ranks that round like numbers cancel, those of unlike numbers add up
// to no more, and what else is drawn stays as it is.
#include "laconic/any/parse_reduction.hpp"
#include "support/everything.hpp"
#include "support/reducing.hpp"

using namespace reducing;

std::size_t const how_many = 1024;

std::vector<float> gradient(std::uint64_t of) {
    std::vector<float> x(how_many);
    for (std::size_t i = 0; i < how_many; ++i)
        x[i] = float(std::sqrt(-2 * std::log1p(-key{of}.uniform(2 * i))) *
                     std::cos(2 * std::numbers::pi * key{of}.uniform(2 * i + 1)));
    return x;
}
// Of each step the sum of squares of the estimate less the mean, where a rank has the same gradient in all steps.
double squared_error(std::string const& text, int n, bool correlated, auto gradient_of) {
    double sum = 0;
    fibers::run(n, [&](auto& comm) {
        std::vector<double> mean(how_many);
        for (int r = 0; r < n; ++r) {
            auto const g = gradient_of(r);
            for (std::size_t i = 0; i < how_many; ++i) mean[i] += g[i] / double(n);
        }
        std::vector<float> x(how_many);
        reducer reduce(parse_reduction(text), comm, x, {.seed = 3, .verify_every = 1, .correlated = correlated});
        for (int step = 0; step < 20; ++step) {
            x = gradient_of(comm.rank());
            reduce(x);
            for (std::size_t i = 0; comm.rank() == 0 && i < how_many; ++i) sum += (x[i] - mean[i]) * (x[i] - mean[i]);
        }
    });
    return sum;
}
double ratio(std::string const& text, int n, auto gradient_of) {
    return squared_error(text, n, true, gradient_of) / squared_error(text, n, false, gradient_of);
}

auto const like = [g = gradient(0)](int) { return g; };
auto const unlike = [](int r) { return gradient(std::uint64_t(r)); };

TEST_CASE("like gradients: where fractions are spread evenly, n ranks have an n-th of the error") {
    for (int const n : {2, 4, 5})
        for (std::string const text : {"plain(quantize(7, bucket=128, p=inf))", "plain(uniform(4, bucket=128))",
                                       "plain(hadamard | uniform(4, bucket=128))", "plain(natural)",
                                       "plain(bf16(random=yes))", "plain(block_float(mxfp8_e4m3, rounding=random))"}) {
            CAPTURE(text);
            CAPTURE(n);
            CHECK(ratio(text, n, like) == doctest::Approx(1. / n).epsilon(.15).scale(0));
        }
}

TEST_CASE("unlike gradients: (n + 1) / (2 n) of the error where signs are on the grid, too, and elsewhere no more") {
    for (int const n : {2, 4, 5}) {
        for (std::string const text : {"plain(quantize(7, bucket=128, p=inf))", "plain(uniform(4, bucket=128))",
                                       "plain(hadamard | uniform(4, bucket=128))"}) {
            CAPTURE(text);
            CAPTURE(n);
            CHECK(ratio(text, n, unlike) == doctest::Approx((n + 1) / (2. * n)).epsilon(.07).scale(0));
        }
        for (std::string const text : {"plain(quantize(1, bucket=128))", "plain(natural)", "plain(bf16(random=yes))",
                                       "plain(rand_k(0.25) | uniform(4, bucket=128))"}) {
            CAPTURE(text);
            CAPTURE(n);
            CHECK(ratio(text, n, unlike) < 1.05);
        }
    }
}

TEST_CASE("what is not rounded stays as it is: coordinates are each rank's own") {
    for (char const* text : {"plain(rand_k(0.25))", "error_feedback(top_k(0.1))", "plain(proportional(0.1))"})
        CHECK(squared_error(text, 4, true, like) == squared_error(text, 4, false, like));
}

TEST_CASE("ranks must agree on it") {
    auto const text = error_of_all(3, [](auto& comm) {
        reducer reduce(plain{natural{}}, comm, how_many, {.seed = 1, .correlated = comm.rank() == 1});
    });
    CHECK(text.find("rounding") != text.npos);
}
