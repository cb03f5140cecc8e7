// SPDX-License-Identifier: Apache-2.0
// A `local_member` counts turns for each lane and forgets all lanes where its engine fails.
#include "laconic/comm/local_member.hpp"

#include "support/everything.hpp"

using namespace laconic;

namespace {

// An engine in which no rank waits, and which records its calls.
struct written_down {
    static constexpr bool may_change_threads = true;
    using call = std::tuple<char, int, int, std::uint64_t, bool>;
    std::vector<call> calls;
    bool fails = false;

    void start(detail::local_group& in, int rank, int lane, std::uint64_t turn, payload mine, bool waits) {
        if (fails) throw comm_error(1, "gone");
        calls.emplace_back('s', rank, lane, turn, waits);
        in.at(rank).sent[lane][turn % 2].assign(mine);
    }
    void finish(detail::local_group&, int rank, int lane, std::uint64_t turn, std::uint64_t complete) {
        calls.emplace_back('f', rank, lane, 100 * complete + turn, false);
    }
    payload exchange(detail::local_group&, int, int, payload mine, int) { return mine; }
};
static_assert(Overlapping<detail::local_member<written_down>> && PointToPoint<detail::local_member<written_down>>);

}  // namespace

TEST_CASE("each lane counts its own turns, and all collective calls are counted together") {
    written_down engine;
    detail::local_member<written_down> comm(engine, std::make_shared<detail::local_group>(std::vector<int>{7}), 0);
    CHECK(comm.size() == 1);
    CHECK(comm.may_change_threads());
    std::byte const bytes[3] = {};
    comm.all_gather({bytes});
    CHECK(comm.from(0).bytes.size() == 3);
    comm.start_all_gather({std::span(bytes).first(1)}, 5);
    comm.start_all_gather({std::span(bytes).first(2)});
    comm.finish(5);
    CHECK(comm.from(0).bytes.size() == 1);
    comm.finish();
    CHECK(comm.from(0).bytes.size() == 2);
    using calls = std::vector<written_down::call>;
    CHECK(engine.calls == calls{{'s', 0, 0, 0, true},
                                {'f', 0, 0, 100, false},
                                {'s', 0, 5, 0, false},
                                {'s', 0, 0, 1, false},
                                {'f', 0, 5, 200, false},
                                {'f', 0, 0, 301, false}});
}

TEST_CASE("where the engine fails nothing is under way") {
    written_down engine;
    detail::local_member<written_down> comm(engine, std::make_shared<detail::local_group>(std::vector<int>{0}), 0);
    comm.start_all_gather({}, 2);
    CHECK_THROWS_AS(comm.exchange(0, {}, 0), argument_error);
    engine.fails = true;
    CHECK_THROWS_AS(comm.start_all_gather({}, 3), comm_error);
    engine.fails = false;
    CHECK_THROWS_AS(comm.finish(2), argument_error);
    comm.exchange(0, {}, 0);
}
