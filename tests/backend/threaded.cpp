// SPDX-License-Identifier: Apache-2.0
// A host on several threads is a backend, floats and doubles in turn, and a reducer takes it.
#include "laconic/backend/threaded.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "laconic/comm/threads.hpp"
#include "laconic/compress/compressors.hpp"
#include "laconic/compressor_laws.hpp"
#include "laconic/reducer.hpp"
#include "support/test.hpp"

using namespace laconic;

static_assert(kernels::Backend<threaded<>, float> && kernels::Backend<threaded<>, double>);

// The estimates of two ranks, after two steps.
template <class R>
std::vector<std::vector<float>> estimates(R const& how, std::size_t d, auto const& backend) {
    std::vector<std::vector<float>> all(2);
    threads::run(2, [&](auto& comm) {
        auto& x = all[static_cast<std::size_t>(comm.rank())];
        reducer reduce(how, comm, d, {.seed = 1}, backend());
        for (int step = 0; step < 2; ++step) {
            x = compressor_laws::noise<float>(d, 3 + static_cast<std::uint64_t>(comm.rank()), 1);
            reduce(x);
        }
    });
    return all;
}

TEST_CASE("a reducer on several threads has the estimates of one") {
    std::size_t const d = (std::size_t{1} << 22) + 1;
    auto const check = [&](auto const& how) {
        CAPTURE(to_string(how));
        auto const wanted = estimates(how, d, [] { return host(); });
        CHECK(estimates(how, d, [] { return threaded(2); }) == wanted);
    };
    check(error_feedback{top_k{0.01}});
    check(error_feedback{scaled_sign{}});
    check(shifted{quantize{7, 512}});
    check(plain{natural{}});
}
