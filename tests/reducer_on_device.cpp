// SPDX-License-Identifier: Apache-2.0
// A reducer of vectors on the device computes the estimates that one of the host's vectors does.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "laconic/comm/metered.hpp"
#include "laconic/compress/low_rank.hpp"
#include "laconic/compress/natural.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/core/key.hpp"
#include "laconic/reducer.hpp"
#include "laconic/transport/message_arrays.hpp"
#include "support/on_device.hpp"

using namespace laconic;

namespace {

constexpr std::size_t sizes[] = {60, 7};
std::vector<layer> const layers{{"0", 60, 12}, {"1", 7}};
using vectors = std::vector<std::vector<double>>;

vectors gradients(int rank, int step) {
    vectors all;
    for (std::size_t const d : sizes) {
        auto const k = key{13}.child(std::uint64_t(rank)).child(std::uint64_t(step)).child(d);
        auto& g = all.emplace_back(d);
        for (std::size_t i = 0; i < d; ++i) g[i] = 2 * k.uniform(i) - 1;
    }
    return all;
}

// The estimates of the last rank, step by step; on_there(g, step) takes a step with vectors where the reducer wants
// them.
vectors steps(auto& reduce, int rank, auto take_step) {
    vectors all;
    for (int k = 0; k < 6; ++k) {
        auto g = gradients(rank, k);
        if (k == 3) {  // a step that fails changes nothing
            auto bad = gradients(rank, 50);
            if (rank == 0) bad[1][2] = std::numeric_limits<double>::infinity();
            CHECK_THROWS_AS(take_step(reduce, bad), non_finite_error);
        }
        take_step(reduce, g);
        all.insert(all.end(), g.begin(), g.end());
    }
    return all;
}

template <class R>
void same_as_on_host(R const& how, reducer_options const& options = {.seed = 0}) {
    for (int const n : nccl_ranks::counts()) {
        CAPTURE(n);
        vectors host_has, device_has;
        fibers::run(n, [&](fibers::member& comm) {
            reducer<R, fibers::member, double> reduce(how, comm, layers, options);
            auto const all = steps(reduce, comm.rank(), [](auto& r, vectors& g) {
                for (std::size_t l = 0; l < 2; ++l) r.start(l, g[l], {.loss_scale = 2});
                r.finish();
            });
            if (comm.rank() + 1 == n) host_has = all;
        });
        on_device::run(n, [&](nccl& comm, device& on) {
            reducer<R, nccl, double, device> reduce(how, comm, layers, options, on_device::made_for(comm.stream()));
            auto const all = steps(reduce, comm.rank(), [&](auto& r, vectors& g) {
                device::array<double> a(sizes[0]), b(sizes[1]);
                device::array<double>* there[] = {&a, &b};
                for (std::size_t l = 0; l < 2; ++l) {
                    copy_from_host(on, std::span<double const>(g[l]), std::span<double>(*there[l]));
                    r.start(l, std::span<double>(*there[l]), {.loss_scale = 2});
                }
                r.finish();
                for (std::size_t l = 0; l < 2; ++l)
                    copy_to_host(on, std::span<double const>(*there[l]), std::span<double>(g[l]));
            });
            if (comm.rank() + 1 == n) device_has = all;
        });
        CHECK(device_has == host_has);
    }
}

}  // namespace

static_assert(detail::CarriesMessages<metered<nccl>, detail::message_of<top_k<>, float, device>, device>);

TEST_CASE("a reducer of the device's vectors does what one of the host's does, and its messages stay there") {
    same_as_on_host(error_feedback{top_k{3}}, {.seed = 0, .share_below = 0});
    same_as_on_host(ef21_shift{top_k{3}}, {.seed = 0, .share_below = 0});
    same_as_on_host(shifted{rand_k{3} | natural{}}, {.seed = 0, .share_below = 0});
    same_as_on_host(plain{quantize{4}}, {.seed = 0, .share_below = 0});
    same_as_on_host(majority_vote{}, {.seed = 0, .share_below = 0});
    same_as_on_host(unproved{error_feedback{low_rank<>{.rank = 2, .warm_start = true}}}, {.seed = 0, .share_below = 0});
}

TEST_CASE("small layers of the device's share a message by way of the host, and probes and comparisons are taken") {
    same_as_on_host(error_feedback{top_k{3}}, {.dense_below = 10, .probe_every = 2, .verify_every = 2});
}

TEST_CASE("broadcast() sets the device's vectors to the root's") {
    on_device::run(2, [](nccl& comm, device& on) {
        using reducer_type = reducer<plain<>, nccl, double, device>;
        reducer_type reduce(plain{}, comm, layers, {.seed = 0}, on_device::made_for(comm.stream()));
        std::vector<double> x(9, comm.rank() + 0.5);
        device::array<double> there(x.size());
        copy_from_host(on, std::span<double const>(x), std::span<double>(there));
        reduce.broadcast(std::span<double>(there), 1);
        copy_to_host(on, std::span<double const>(there), std::span<double>(x));
        CHECK(x == std::vector<double>(9, 1.5));
    });
}
