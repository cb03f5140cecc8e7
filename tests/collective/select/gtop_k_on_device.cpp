// SPDX-License-Identifier: Apache-2.0
// `gtop_k` gives the host's bits on the device, and its errors on all ranks.
#include "laconic/collective/select/gtop_k.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/on_device.hpp"
#include "support/sparse_vectors.hpp"

using namespace laconic;
namespace sv = sparse_vectors;

namespace {

// What the ranks have, and are given back, after the collective that make(comm) gives.
template <class T, class Make>
std::pair<sv::lists<T>, sv::lists<T>> after(sv::lists<T> const& brought, Make make) {
    std::pair<sv::lists<T>, sv::lists<T>> all{brought, sv::lists<T>(brought.size())};
    on_device::run(int(brought.size()), [&](nccl& comm, device& on) {
        auto const me = std::size_t(comm.rank());
        auto collective = make.template operator()<device>(comm);
        auto v = on_device::taken(on, brought[me]);
        collective(on, comm, v);
        all.first[me] = on_device::brought(on, v);
        all.second[me] = on_device::brought(on, collective.leftover());
    });
    return all;
}
template <class T>
void as_on_the_host(sv::lists<T> const& brought, std::size_t k, bool as_published) {
    std::size_t const d = brought[0].dimension();
    auto const make = [&]<class B>(auto& comm) { return make_sum<T, B>(gtop_k{k, as_published}, comm, d); };
    auto const here = sv::after(brought, [&](auto& comm) { return make.template operator()<host>(comm); });
    CHECK(after(brought, make) == here);
}

// The errors that the ranks throw in a bad round, which a good round follows.
std::vector<std::string> errors_then_good_round(std::size_t ranks, std::size_t d, auto bring) {
    std::vector<std::string> received(ranks, "none");
    auto const good = sv::all_whole_numbers<float>(sv::shape::spread, d, 4, int(ranks));
    auto const expected = sv::after(good, [&](auto& comm) { return make_sum<float>(gtop_k{4}, comm, d); }).first[0];
    on_device::run(int(ranks), [&](nccl& comm, device& on) {
        auto const me = std::size_t(comm.rank());
        auto collective = make_sum<float, device>(gtop_k{4}, comm, d);
        auto v = on_device::taken(on, bring(comm.rank(), good[me]));
        try {
            collective(on, comm, v, 17);
        } catch (error const& e) {
            received[me] = e.what();
        }
        v = on_device::taken(on, good[me]);
        collective(on, comm, v, 18);
        CHECK(on_device::brought(on, v) == expected);
    });
    return received;
}

}  // namespace

TEST_CASE_TEMPLATE("any number of ranks, any supports, either rule: the host's terms, to the bit", T, float, double) {
    std::size_t turn = 0;  // each shape with each number of ranks and each k, not all three together
    for (int const n : nccl_ranks::counts())
        for (std::size_t const k : {0, 1, 6, 60})
            for (bool const as_published : {false, true}) {
                CAPTURE(n);
                CAPTURE(k);
                auto const how = sv::shapes[turn++ % std::size(sv::shapes)];
                as_on_the_host(sv::all_whole_numbers<T>(how, 60, 6, n), k, as_published);
            }
}

TEST_CASE("numbers whose sums are rounded") {
    for (int const n : nccl_ranks::counts()) {
        auto brought = sv::all_whole_numbers<float>(sv::shape::crowded, 500, 40, n);
        for (std::size_t r = 0; r < brought.size(); ++r) {
            sparse_sum<float> v(500);
            for (std::size_t j = 0; j < brought[r].size(); ++j)
                v.append(brought[r].support()[j], std::tan(brought[r].values()[j]));
            brought[r] = v;
        }
        as_on_the_host(brought, 30, false);
    }
}

TEST_CASE("no dimensions, and coordinates up to the largest") {
    std::size_t const d = detail::largest_dimension;
    for (int const n : nccl_ranks::counts()) {
        as_on_the_host(sv::lists<double>(std::size_t(n), sparse_sum<double>(0)), 0, false);
        auto const v = sv::of<double>(d, {{16777217, 2}, {2147483649, 4}, {d - 1, 5}});
        as_on_the_host(sv::lists<double>(std::size_t(n), v), 2, false);
    }
}

TEST_CASE("what cannot be summed is refused on all ranks in the host's words, and the next round is held") {
    for (int const n : nccl_ranks::counts()) {
        auto const ranks = std::size_t(n);
        for (int const culprit : {0, n / 2, n - 1}) {
            auto const who = "rank " + std::to_string(culprit);
            auto const nan = sv::of<float>(30, {{2, 1}, {9, NAN}, {12, INFINITY}});
            CHECK(errors_then_good_round(ranks, 30, [&](int r, auto const& v) { return r == culprit ? nan : v; }) ==
                  std::vector(ranks, who + ", round 17: the gradient is not finite at coordinate 9"));
            CHECK(errors_then_good_round(ranks, 30, [&](int r, auto const& v) {
                      return r == culprit ? sparse_sum<float>(31) : v;
                  }) == std::vector(ranks, who + " has a vector of 31 numbers, the collective is for 30"));
        }
    }
    for (int const n : nccl_ranks::counts(2)) {
        auto const ranks = std::size_t(n);
        auto const huge = sv::of<float>(30, {{8, 3e38f}});
        CHECK(errors_then_good_round(ranks, 30, [&](int r, auto const& v) { return r < 2 ? huge : v; }) ==
              std::vector(ranks, std::string("round 17: the ranks' sum is not finite at coordinate 8")));
    }
}

TEST_CASE("a rank sends a wrong number of terms: the others throw, and allocate nothing for them") {
    auto const good = sv::whole_numbers<float>(sv::shape::spread, 30, 4, 0, 1);
    for (int const n : nccl_ranks::counts())
        for (auto const sent : {std::uint64_t{5}, std::uint64_t{1} << 31, ~std::uint64_t{0}}) {
            CAPTURE(n);
            CAPTURE(sent);
            std::vector<std::string> received(std::size_t(n), "none");
            on_device::run(n, [&](nccl& comm, device& on) {
                auto collective = make_sum<float, device>(gtop_k{4}, comm, 30);
                auto v = on_device::taken(on, good);
                try {
                    if (comm.rank() == n - 1) {
                        comm.all_gather({std::as_bytes(std::span(&sent, 1)), false});
                        return;  // and sends nothing more
                    }
                    collective(on, comm, v);
                } catch (wire_error const& e) {
                    received[std::size_t(comm.rank())] = e.why;
                }
            });
            for (int r = 0; r + 1 < n; ++r)
                CHECK(received[std::size_t(r)] == "from rank " + std::to_string(n - 1) + ": a list of " +
                                                      std::to_string(sent) + " terms, where no rank has more than 4");
        }
    // Words that are no length.
    for (int const n : nccl_ranks::counts(2)) {
        auto const received = nccl_ranks::errors_on(n, [&](nccl& comm) {
            auto on = on_device::made_for(comm.stream());
            auto collective = make_sum<float, device>(gtop_k{4}, comm, 30);
            if (comm.rank() == 1) return comm.all_gather({});
            auto v = on_device::taken(on, good);
            collective(on, comm, v);
        });
        CHECK(received[0] == "at bit 0 of a message: from rank 1: no length");
    }
}

TEST_CASE("ranks that differ all throw, before any sum") {
    for (int const n : nccl_ranks::counts(2)) {
        auto const received = nccl_ranks::errors_on(
            n, [](nccl& comm) { make_sum<float, device>(gtop_k{comm.rank() == 1 ? 1 : 2}, comm, 6); });
        for (auto const& text : received) CHECK(text.find("ranks disagree: ") == 0);
    }
}
