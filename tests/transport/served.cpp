// SPDX-License-Identifier: Apache-2.0
#include "laconic/transport/served.hpp"

#include <doctest/doctest.h>

#include <span>
#include <string>
#include <vector>

#include "laconic/comm/fibers.hpp"
#include "laconic/compress/identity.hpp"
#include "laconic/compress/top_k.hpp"
#include "states.hpp"

using namespace laconic;

namespace {

using vec = std::vector<double>;
using message = message_of<identity, double, host>;

struct seat {
    host on;
    served_mean<top_k<>, message, double> by;
    memory<> feedback;
    message mine;
    error_frame frame;
    vec mean = vec(3, 77);

    explicit seat(fibers::member& comm) : by({top_k{1}, {0, 1}}, 3, position_code::smallest) {
        feedback.start(3);
        by.start(comm);
    }
    void send(fibers::member& comm, vec const& x) {
        identity{}(on, std::span<double const>(x), key{}, mine);
        by.send(on, comm, round_context{}, mine, frame);
    }
    void receive(fibers::member& comm, std::uint64_t round) {
        by.receive(
            on, comm, round_context::of(key{1}, round, comm.rank(), comm.size()), mine, frame,
            [](auto& there, int, auto& m) { identity{}.blank(there, 3, key{}, m); }, feedback, std::span(mean));
    }
    vec estimate(fibers::member& comm, vec const& x, std::uint64_t round) {
        send(comm, x);
        receive(comm, round);
        feedback.update(on, std::span<double const>(x), mine);
        by.reconstruct(on, comm, round_context::of(key{1}, round, comm.rank(), comm.size()), feedback, std::span(mean));
        return mean;
    }
};

}  // namespace

TEST_CASE("the server's answer is compressed, and what it leaves out is sent later") {
    std::vector<vec> residual(2);
    fibers::run(2, [&](fibers::member& comm) {
        seat at(comm);
        vec const x = comm.rank() == 0 ? vec{4, 2, 0} : vec{0, 4, 2};
        CHECK(at.estimate(comm, x, 0) == vec{0, 3, 0});  // of (2, 3, 1)
        CHECK(at.estimate(comm, x, 1) == vec{4, 0, 0});  // of (4, 3, 2)
        auto const left = at.by.feedback().residual();
        residual[std::size_t(comm.rank())].assign(left.begin(), left.end());
        // The state is what the server remembers.
        seat again(comm);
        restore_from(at.by, again.by);
        CHECK(again.estimate(comm, x, 2) == vec{0, 6, 0});  // of (2, 6, 3)
    });
    CHECK(residual[0] == vec{0, 3, 2});
    CHECK(residual[1].empty());
}

TEST_CASE("a rank's error frame is raised on all ranks, and the next round is whole") {
    fibers::run(3, [](fibers::member& comm) {
        seat at(comm);
        if (comm.rank() == 2) at.frame.because("no paper");
        at.send(comm, vec{1, 2, 3});
        std::string told;
        try {
            at.receive(comm, 7);
        } catch (compression_error const& e) {
            told = e.what();
        }
        CHECK(told == "rank 2, round 7: no paper");
        at.by.require_whole();
        at.frame.clear();
        CHECK(at.estimate(comm, vec{1, 2, 3}, 8) == vec{0, 0, 3});
    });
}

TEST_CASE("as it is written") {
    CHECK(to_string(served<top_k<>>{top_k{2}, {0, 1}}) == "served(top_k(2), memory(rate=0, decay=1))");
    CHECK_THROWS_AS((served_mean<top_k<>, message, double>({top_k{4}, {}}, 3, position_code::smallest)),
                    argument_error);
}
