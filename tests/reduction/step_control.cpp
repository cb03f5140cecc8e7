// SPDX-License-Identifier: Apache-2.0
// Messages are sent in the order of the first step, eight in flight, and small layers in one.
#include "laconic/reduction/step_control.hpp"

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"
#include "support/passed_on.hpp"

// Notes the all-gathers of a rank: [lane: numbers, without the tag behind them] where one starts, (lane) where it is
// finished.
struct noted_lanes : passed_on<fibers::member> {
    std::string* notes;

    void start_all_gather(payload mine, int lane = 0) {
        auto const bytes = mine.bytes.first(mine.bytes.size() - detail::tag_length);
        std::vector<float> numbers(bytes.size() / sizeof(float));
        std::memcpy(numbers.data(), bytes.data(), bytes.size());
        *notes += "[" + std::to_string(lane) + ":";
        if (numbers.size() == 4) *notes += " order", numbers.clear();  // a digest, as no message has four numbers
        for (float const v : numbers) *notes += " " + std::to_string(int(v));
        *notes += "] ";
        inner->start_all_gather(mine, lane);
    }
    void finish(int lane = 0) {
        *notes += "(" + std::to_string(lane) + ") ";
        inner->finish(lane);
    }
};

TEST_CASE("the order in which messages are sent and received: eight in flight, and small layers in one") {
    static_assert(detail::most_in_flight == 8);
    std::vector<std::size_t> const sizes{1, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3};
    std::vector<std::string> notes(3);
    fibers::run(2, [&](fibers::member& inner) {
        std::string mine;
        noted_lanes comm{{&inner}, &mine};
        reducer_options const options{.share_below = 3};
        detail::reduction_step<plain<>, noted_lanes> step(
            comm, [](layer const&) { return plain<>{}; }, layers_of(sizes), options);
        std::vector<std::vector<float>> x(sizes.size());
        for (auto& steps : notes) {
            mine.clear();
            for (std::size_t l = sizes.size(); l-- > 0;) {
                x[l].clear();
                for (std::size_t i = 0; i < sizes[l]; ++i) x[l].push_back(float(10 * l + i));
                mine += std::to_string(l) + " ";
                step.start(l, x[l]);
            }
            mine += "end ";
            step.finish();
            if (inner.rank() == 0) steps = mine;
        }
    });
    CHECK(notes[0] ==  // once the ranks have compared the order
          "10 9 8 7 6 5 4 3 2 1 0 end [0: order] (0) [0: 100 101 102] [1: 90 91 92] [2: 80 81 82] [3: 70 71 72] [4: 60 "
          "61 62] "
          "[5: 50 51 52] [6: 40 41 42] [7: 30 31 32] (0) [0: 20 21 22] (1) [1: 10 11 0] "
          "(2) (3) (4) (5) (6) (7) (0) (1) ");
    CHECK(notes[1] ==
          "10 [0: 100 101 102] 9 [1: 90 91 92] 8 [2: 80 81 82] 7 [3: 70 71 72] 6 [4: 60 61 62] 5 [5: 50 51 52] "
          "4 [6: 40 41 42] 3 [7: 30 31 32] 2 (0) [0: 20 21 22] 1 0 (1) [1: 10 11 0] "
          "end (2) (3) (4) (5) (6) (7) (0) (1) ");
    CHECK(notes[2] == notes[1]);
}
