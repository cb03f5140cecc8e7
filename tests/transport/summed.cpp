// SPDX-License-Identifier: Apache-2.0
#include "laconic/transport/summed.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "laconic/collective/dense/ring.hpp"
#include "laconic/collective/select/gtop_k.hpp"
#include "laconic/comm/fibers.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/core/round_context.hpp"
#include "laconic/feedback/memory.hpp"
#include "laconic/transport/gathered.hpp"

using namespace laconic;

namespace {

using message = message_of<top_k<>, double, host>;

// What rank r sends: its largest number is 3 (r + 1), at r.
std::vector<double> numbers(int rank) {
    std::vector<double> x(5, 0.25);
    x[std::size_t(rank)] = 3 * (rank + 1);
    return x;
}

template <class X>
void each_way(X const& collective, bool uses_collective) {
    int wrong = 0;
    fibers::run(3, [&](fibers::member& comm) {
        host on;
        transport_for<X, message> means(collective, 5, position_code::smallest);
        static_assert(Transport<decltype(means), fibers::member, message, memory<>>);
        wrong += means.uses_collective() != uses_collective;
        memory<> feedback;
        message mine;
        std::vector<double> mean(5, 77);
        error_frame frame;
        top_k const c{1};
        auto const blank = [&](auto& there, int, auto& m) { c.blank(there, 5, key{}, m); };
        auto const round = [&](std::uint64_t k) {
            auto const x = numbers(comm.rank());
            c(on, std::span<double const>(x), key{}, mine);
            round_context now;
            now.round = k;
            means.send(on, comm, now, mine, frame);
            means.receive(on, comm, now, mine, frame, blank, feedback, std::span(mean));
        };
        round(0);
        wrong += mean != std::vector<double>{1, 2, 3, 0, 0};

        // A rank without a message: what is wrong there is thrown everywhere, and the next round is whole.
        if (comm.rank() == 1) frame.not_finite(4);
        try {
            round(1);
            ++wrong;
        } catch (non_finite_error const& e) {
            wrong += e.rank != 1 || e.round != 1 || e.coordinate != 4;
        }
        frame.clear();
        if (comm.rank() == 2) frame.because("no paper");
        try {
            round(2);
            ++wrong;
        } catch (compression_error const& e) {
            wrong += std::string(e.what()).find("rank 2, round 2") != 0;
            wrong += std::string(e.what()).find("no paper") == std::string::npos;
        }
        frame.clear();
        means.require_whole();
        round(3);
        wrong += mean != std::vector<double>{1, 2, 3, 0, 0};
    });
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("gathered or exchanged, the mean of all messages and the errors of all ranks are the same") {
    each_way(gather_all{}, false);
    each_way(ring{}, true);
    each_way(gtop_k{3}, true);
}

TEST_CASE("what a collective leaves out goes back to a feedback that keeps it, and to no other") {
    std::vector<double> left(5), brought(5);
    fibers::run(3, [&](fibers::member& comm) {
        host on;
        summed<gtop_k, message, double> means(gtop_k{1}, 5, position_code::smallest);
        memory<> keeps(0, 1), loses(1, 0);
        CHECK_THROWS_AS(means.require_beside(loses, "memory"), argument_error);
        means.require_beside(keeps, "memory");
        keeps.start(5);
        auto const x = numbers(comm.rank());
        message mine;
        top_k{1}(on, std::span<double const>(x), key{}, mine);
        std::vector<double> mean(5);
        error_frame const frame;
        means.send(on, comm, round_context{}, mine, frame);
        means.receive(
            on, comm, round_context{}, mine, frame, [](auto&, int, auto&) {}, keeps, std::span(mean));
        keeps.update(on, std::span<double const>(x), mine);
        means.give_back(on, keeps);
        CHECK(mean == std::vector<double>{0, 0, 3, 0, 0});  // a third of 9, the largest
        for (std::size_t i = 0; i < 5; ++i) {
            left[i] += keeps.residual()[i];
            brought[i] += x[i];
        }
    });
    // Whichever rank keeps it: nothing is lost.
    brought[2] -= 9;
    CHECK(left == brought);
}
