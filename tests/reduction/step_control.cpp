// SPDX-License-Identifier: Apache-2.0
// Messages are sent in the order that rank 0 has had in the first step, whatever the order of the starts, eight in
// flight, and small layers in one.
#include "laconic/reduction/step_control.hpp"

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"
#include "support/passed_on.hpp"
#include "support/reducing.hpp"

// Notes the all-gathers of a rank: [lane: numbers, without the tag behind them] where one starts, (lane) where it is
// finished.
struct noted_lanes : passed_on<fibers::member> {
    std::string* notes;

    void start_all_gather(payload mine, int lane = 0) {
        auto const bytes = mine.bytes.first(mine.bytes.size() - detail::tag_length);
        std::vector<float> numbers(bytes.size() / sizeof(float));
        std::memcpy(numbers.data(), bytes.data(), bytes.size());
        *notes += "[" + std::to_string(lane) + ":";
        if (mine.is_error) *notes += " failed", numbers.clear();
        if (numbers.size() >= 4) *notes += " order", numbers.clear();  // digests: no message has as many numbers
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

TEST_CASE("each message is sent as soon as the layers before it are started, and behind a missing one by finish()") {
    using orders = std::vector<std::vector<std::size_t>>;
    auto const notes_of = [](on_missing_layer missing, orders const& of_steps) {
        std::vector<std::string> notes(of_steps.size());
        fibers::run(2, [&](fibers::member& inner) {
            std::string mine;
            noted_lanes comm{{&inner}, &mine};
            detail::reduction_step<plain<>, noted_lanes> step(comm, [](layer const&) { return plain<>{}; },
                                                              layers_of({1, 1, 1, 1}),
                                                              {.missing_layer = missing, .share_below = 0});
            std::vector<std::vector<float>> x(4, std::vector<float>(1));
            for (std::size_t l = 0; l < 4; ++l) step.bind(l, detail::caller_vector(detail::view(x[l])));
            for (std::size_t k = 0; k < of_steps.size(); ++k) {
                mine.clear();
                for (auto const l : of_steps[k]) {
                    x[l][0] = float(l);
                    mine += std::to_string(l) + " ";
                    step.start(l, x[l]);
                }
                mine += "end ";
                step.finish();
                if (inner.rank() == 1) notes[k] = mine;
            }
        });
        return notes;
    };
    std::string const all = "(0) (1) (2) (3) ";
    auto const raise = notes_of(on_missing_layer::raise, {{3, 2, 0, 1}, {3, 2, 0, 1}, {2, 3, 0, 1}, {1, 0, 2, 3}});
    CHECK(raise[1] == "3 [0: 3] 2 [1: 2] 0 [2: 0] 1 [3: 1] end " + all);
    CHECK(raise[2] == "2 3 [0: 3] [1: 2] 0 [2: 0] 1 [3: 1] end " + all);
    CHECK(raise[3] == "1 0 2 3 [0: 3] [1: 2] [2: 0] [3: 1] end " + all);
    auto const skip = notes_of(on_missing_layer::skip, {{3, 2, 0, 1}, {3, 0, 1}});
    CHECK(skip[1] == "3 [0: 3] 0 1 end [1: failed] [2: 0] [3: 1] " + all);
    auto const zero = notes_of(on_missing_layer::zero, {{3, 2, 0, 1}, {0, 3}});
    CHECK(zero[1] == "0 3 [0: 3] end [1: 0] [2: 0] [3: 0] " + all);
}

TEST_CASE(
    "reorder(), between steps or in one: the next step compares the order, and later ones have that of its starts") {
    std::vector<std::string> notes;
    fibers::run(2, [&](fibers::member& inner) {
        std::string mine;
        noted_lanes comm{{&inner}, &mine};
        reducer reduce(plain{}, comm, layers_of({1, 1, 1}), {.share_below = 0});
        std::vector<std::vector<float>> x(3, std::vector<float>(1));
        auto const step = [&](std::vector<std::size_t> const& order, bool reorders = false) {
            mine.clear();
            for (auto const l : order) {
                x[l][0] = float(l);
                reduce.start(l, x[l]);
                if (reorders) reduce.reorder();
            }
            reduce.finish();
            if (inner.rank() == 1) notes.push_back(mine);
        };
        step({0, 1, 2}), step({2, 0, 1});
        reduce.reorder(), reduce.reorder();
        step({2, 0, 1}), step({1, 0, 2});
        step({1, 2, 0}, true), step({1, 2, 0}), step({1, 2, 0});
        CHECK(reduce.steps() == 7);
    });
    std::string const end = "(0) (1) (2) ", first = "[0: 0] [1: 1] [2: 2] " + end,
                      second = "[0: 2] [1: 0] [2: 1] " + end, third = "[0: 1] [1: 2] [2: 0] " + end;
    CHECK(notes == std::vector<std::string>{"[0: order] (0) " + first, first, "[0: order] (0) " + second, second,
                                            second, "[0: order] (0) " + third, third});
}

TEST_CASE(
    "where one rank alone calls reorder(), finish() says so on all ranks, nothing changes, and reorder() on all "
    "helps") {
    for (int const alone : {0, 1, 2})
        for (std::size_t const layers : {2u, 11u}) {
            int seen = 0;
            fibers::run(3, [&](fibers::member& comm) {
                reducer reduce(error_feedback{top_k{2}}, comm, std::vector<std::size_t>(layers, 6), {.share_below = 0});
                auto const step = [&] {
                    auto g = reducing::gradients(comm.rank(), 0, std::vector<std::size_t>(layers, 6));
                    auto const before = g;
                    auto const why = error_of<agreement_error>([&] { reducing::whole_step(reduce, g); });
                    CHECK((g == before) == (why != "nothing"));
                    return why;
                };
                CHECK(step() == "nothing");
                if (comm.rank() == alone) reduce.reorder();
                auto const state = reduce.save();
                CHECK(step().find("called reorder() alone") != std::string::npos);
                CHECK(reduce.save() == state);
                ++seen;
                reduce.reorder();
                CHECK(step() == "nothing");
                CHECK(step() == "nothing");
            });
            CHECK(seen == 3);
        }
}
