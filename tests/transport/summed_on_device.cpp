// SPDX-License-Identifier: Apache-2.0
// Runs whose messages and sums stay on the device have the host's iterates and its errors.
#include "laconic/transport/summed.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "laconic/collective/dense/engine_all_reduce.hpp"
#include "laconic/collective/select/gtop_k.hpp"
#include "laconic/compress/identity_or.hpp"
#include "laconic/compress/low_rank.hpp"
#include "laconic/compress/natural.hpp"
#include "laconic/compress/parts.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/signs.hpp"
#include "laconic/compress/threshold.hpp"
#include "laconic/compress/top_k.hpp"
#include "support/on_device.hpp"

// Whole runs over NCCL, or its stand-in, whose messages and sums stay on the device.

using namespace laconic;
using on_device::same_iterates;

namespace {

// A method with this compressor, error correction, and this collective.
template <class C, class X = gather_all>
auto correcting(C const& compressor, X const& collective = {}) {
    return [=]<class B>(std::type_identity<B>) {
        using feedback = memory<double, B>;
        static_assert(detail::CarriesMessages<nccl, detail::message_of<C, double, device>, device>);
        return recursion<C, feedback>{compressor, feedback(0, true), {0.1}}.with_over(collective);
    };
}
template <class C>
auto differencing(C const& compressor) {
    return [=]<class B>(std::type_identity<B>) {
        using feedback = memory<double, B>;
        return recursion<C, feedback>{compressor, feedback(0.25), {0.2}};
    };
}

}  // namespace

TEST_CASE("messages that stay on the device: the host's iterates, whatever is sent") {
    for (int const n : nccl_ranks::counts()) {
        CAPTURE(n);
        CHECK(same_iterates(n, 60, 20, correcting(top_k{6})));
        CHECK(same_iterates(n, 1, 5, correcting(top_k{1})));
        CHECK(same_iterates(n, 60, 20, correcting(top_k{6} | quantize{7})));
        CHECK(same_iterates(n, 60, 20, correcting(threshold{0.2})));  // lengths differ
        CHECK(same_iterates(n, 60, 20, correcting(scaled_sign{})));
        CHECK(same_iterates(n, 60, 20, correcting(zero_blocks{4})));
        CHECK(same_iterates(n, 60, 100, differencing(quantize{3, 20})));
        CHECK(same_iterates(n, 60, 20, differencing(rand_k{6} | natural{})));
        CHECK(same_iterates(n, 60, 20, differencing(bernoulli{0.2})));
    }
}

TEST_CASE("vectors of no numbers, messages of none of them, and of all") {
    for (int const n : nccl_ranks::counts()) {
        CAPTURE(n);
        for (std::size_t const d : {0, 1, 60}) {
            CAPTURE(d);
            CHECK(same_iterates(n, d, 3, correcting(top_k{std::size_t{0}})));
            CHECK(same_iterates(n, d, 3, correcting(top_k{d})));
            CHECK(same_iterates(n, d, 3, correcting(top_k{d} | quantize{7})));
            CHECK(same_iterates(n, d, 3, correcting(threshold{1e9})));  // nothing is that large
            CHECK(same_iterates(n, d, 3, correcting(scaled_sign{})));
            CHECK(same_iterates(n, d, 3, correcting(zero_blocks{4})));
            CHECK(same_iterates(n, d, 3, correcting(top_k{d}, gtop_k{d})));
            CHECK(same_iterates(n, d, 3, correcting(top_k{d}, gtop_k{std::size_t{0}})));
            CHECK(same_iterates(n, d, 3, differencing(quantize{3, 20})));
            CHECK(same_iterates(n, d, 3, differencing(bernoulli{0.2})));
        }
    }
}

TEST_CASE("ranks that disagree in d, or in k, all throw before the first round") {
    for (int const n : nccl_ranks::counts(2))
        for (bool const in_dimension : {true, false}) {
            auto const received = nccl_ranks::errors_on(n, [&](nccl& comm) {
                auto on = on_device::made_for(comm.stream());
                bool const odd = comm.rank() == n - 1;
                std::size_t const d = odd && in_dimension ? 61 : 60;
                auto const method = correcting(top_k{odd && !in_dimension ? 7 : 6})(std::type_identity<device>{});
                laws::iterates_of<device>(method, comm, on, d, 1);
            });
            for (auto const& text : received) CHECK(text.find("ranks disagree: ") == 0);
        }
}

TEST_CASE("gTop-k with error correction") {
    for (int const n : nccl_ranks::counts())
        for (bool const as_published : {false, true})
            CHECK(same_iterates(n, 60, 40, correcting(top_k{6}, gtop_k{6, as_published})));
}

TEST_CASE("NCCL's own sum, of whole numbers") {
    // Its order is NCCL's. Steps and centers are powers of two apart: no sum is rounded.
    for (int const n : nccl_ranks::counts()) {
        std::vector<std::vector<double>> sums(static_cast<std::size_t>(n));
        on_device::run(n, [&](nccl& comm, device& on) {
            detail::message_of<top_k<>, double, device> m;
            detail::summed<engine_all_reduce, decltype(m), double, device> mean({}, 3, position_code::smallest);
            std::vector<double> x{1, -2.0 * comm.rank(), 5};
            device::array<double> there(3), out(3);
            copy_from_host(on, std::span<double const>(x), std::span<double>(there));
            top_k{2}(on, std::span<double const>(there), key{1}, m);
            mean.receive(on, comm, {}, m, {}, nullptr, nullptr, std::span<double>(out));
            multiply(on, double(n), std::span<double>(out));
            copy_to_host(on, std::span<double const>(out), std::span<double>(x));
            sums[static_cast<std::size_t>(comm.rank())] = x;
        });
        // Rank 0 sends 1 and 5, the others -2 r and 5.
        std::vector<double> const expected{1, -double(n * (n - 1)), 5.0 * n};
        for (auto const& sum : sums)
            for (std::size_t i = 0; i < 3; ++i) CHECK(sum[i] == doctest::Approx(expected[i]));
    }
}

TEST_CASE("a gradient that is not finite on one rank ends the round on all, and nothing has changed") {
    auto const n = nccl_ranks::counts().back();
    auto const check = [&](auto collective) {
        std::atomic<int> refused = 0, same = 0, moved = 0;
        on_device::run(n, [&](nccl& comm, device& on) {
            using feedback = memory<double, device>;
            auto const method = recursion<top_k<>, feedback>{top_k{6}, feedback(0, true), {0.1}}.with_over(collective);
            laws::distance_to_own<device> f(60, comm.rank());
            device::array<double> x(60);
            descent<std::remove_const_t<decltype(method)>, laws::distance_to_own<device>, nccl, double, device> run(
                method, f, comm, std::span<double>(x), 1, on);
            run.round();
            auto const before = x;
            if (comm.rank() == n - 1) f.move_center(17, std::numeric_limits<double>::quiet_NaN());
            try {
                run.round();
            } catch (non_finite_error const& e) {
                refused += e.rank == n - 1 && e.round == 1 && e.coordinate == 17;
            }
            same += x == before;
            if (comm.rank() == n - 1) f.move_center(17, 0.25);
            run.round();
            moved += !(x == before);
        });
        CHECK(refused == n);
        CHECK(same == n);
        CHECK(moved == n);
    };
    check(gather_all{});
    check(gtop_k{6});
    check(engine_all_reduce{});
}

TEST_CASE("what would be lost is refused") {
    using mean_type = detail::summed<gtop_k, detail::message_of<top_k<>, double, device>, double, device>;
    mean_type const mean({6}, 60, position_code::smallest);
    CHECK_THROWS_AS(mean.require_beside(memory<double, device>(0.5), ""), argument_error);
    mean.require_beside(memory<double, device>(0, 1), "");
    CHECK_THROWS_AS(mean_type({60}, 6, position_code::smallest), argument_error);
}
