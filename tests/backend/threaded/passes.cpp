// SPDX-License-Identifier: Apache-2.0
// Each pass in parts is its definition, to the bit.
#include "laconic/backend/threaded/passes.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/laws/kernels.hpp"

using laconic::threaded;

struct eager : threaded<> {
    explicit eager(int threads = 3) : threaded(threads) { split_from(1000); }
};

TEST_CASE_TEMPLATE("updates are the definition's", T, float, double) { kernel_laws::updates<eager, T>(); }
TEST_CASE_TEMPLATE("reductions are the definition's", T, float, double) { kernel_laws::reductions<eager, T>(); }
TEST_CASE_TEMPLATE("short codes are the definition's", T, float, double) { kernel_laws::short_codes<eager, T>(); }
TEST_CASE_TEMPLATE("buckets are the definition's", T, float, double) { kernel_laws::buckets<eager, T>(); }
TEST_CASE("words are the definition's") { kernel_laws::words<eager>(); }

TEST_CASE_TEMPLATE("sums of many stretches are those of one thread", T, float, double) {
    laconic::host host;
    std::size_t const d = 200007;  // more stretches than partial sums
    auto const x = both::numbers<T>(both::kind::noise, d);
    for (int const threads : {2, 3, 5}) {
        CAPTURE(threads);
        eager on(threads);
        auto const v = both::in(x);
        CHECK(sum_of_magnitudes(on, v) == sum_of_magnitudes(host, v));
        CHECK(sum_of_squares(on, v) == sum_of_squares(host, v));
        CHECK(sum_of_squares(on, v, 3.0, 0.1) == sum_of_squares(host, v, 3.0, 0.1));
        CHECK(sum_of_numbers(on, v, 3.0, 0.1) == sum_of_numbers(host, v, 3.0, 0.1));
        CHECK(rounding_variance(on, v, T(0.3)) == rounding_variance(host, v, T(0.3)));
        std::vector<T> mean(1), wanted(1);
        std::vector<std::uint64_t> words((d + 63) / 64), wanted_words = words;
        CHECK(pack_signs_and_means(on, v, d, both::out(mean), both::out(words)));
        CHECK(pack_signs_and_means(host, v, d, both::out(wanted), both::out(wanted_words)));
        CHECK(mean == wanted);
        CHECK(words == wanted_words);
    }
}
