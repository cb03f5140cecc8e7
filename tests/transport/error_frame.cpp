// SPDX-License-Identifier: Apache-2.0
// An error frame raises the same error on every rank, with the rank that sent it.
#include "laconic/transport/error_frame.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "laconic/comm/threads.hpp"

using namespace laconic;

namespace {

// What is raised from these bytes, of rank 2 in round 9.
std::string raised(std::span<std::byte const> bytes) {
    try {
        error_frame::raise(2, 9, bytes);
    } catch (non_finite_error const& e) {
        return "at " + std::to_string(e.rank) + " " + std::to_string(e.round) + " " + std::to_string(e.coordinate);
    } catch (compression_error const& e) {
        return "why " + std::to_string(e.rank) + " " + std::to_string(e.round) + " " + e.why;
    } catch (comm_error const& e) {
        return std::to_string(e.rank) + " " + e.what();
    }
}

}  // namespace

TEST_CASE("a coordinate or a text, raised on whichever rank reads it") {
    error_frame f;
    CHECK(!f.is_set());
    CHECK(f.bytes().empty());
    f.not_finite(0x0102);
    CHECK(f.is_set());
    CHECK(f.coordinate() == 0x0102);
    CHECK((f.bytes().size() == 8 && f.bytes()[0] == std::byte{2} && f.bytes()[1] == std::byte{1}));
    CHECK(raised(f.bytes()) == "at 2 9 258");
    f.because("too large");
    CHECK(f.bytes().size() == 8 + 9);
    CHECK(f.coordinate() == 0);
    CHECK(raised(f.bytes()) == "why 2 9 too large");
    f.because("");
    CHECK(raised(f.bytes()) == "why 2 9 ");
    f.clear();
    CHECK(!f.is_set());
}

TEST_CASE("bytes that are no frame are the rank's fault") {
    std::vector<std::byte> bytes(9);
    for (std::size_t const n : {0u, 7u, 9u})
        CHECK(raised(std::span(bytes).first(n)) == "2 rank 2 sent an unreadable error frame");
}

TEST_CASE("what a collective found is explained by the rank that brought it, to all") {
    std::array<std::string, 3> errors;
    for (int const rank : {0, 1, -1, 3}) {
        threads::run(3, [&](threads::member& comm) {
            error_frame mine;
            if (comm.rank() == 1) mine.because("it overflows");
            auto& text = errors[static_cast<std::size_t>(comm.rank())];
            try {
                mine.explain(comm, non_finite_error(rank, 4, 0));
                text = "nothing";
            } catch (compression_error const& e) {
                text = e.what();
            }
        });
        std::string const expected = rank == 1 ? "rank 1, round 4: it overflows" : "nothing";
        for (auto const& text : errors) CHECK(text == expected);
    }
}

TEST_CASE("of several frames the first rank's is raised on all, and of none of them nothing") {
    for (int const first : {0, 1, 3}) {
        threads::run(3, [&](threads::member& comm) {
            error_frame mine;
            if (comm.rank() >= first) mine.because("from " + std::to_string(comm.rank()));
            comm.all_gather({mine.bytes(), mine.is_set()});
            if (first == 3) return error_frame::raise_first(comm, 4);
            auto const text = detail::concat({"rank ", first, ", round 4: from ", first});
            CHECK_THROWS_WITH_AS(error_frame::raise_first(comm, 4), text.c_str(), compression_error);
        });
    }
}

TEST_CASE("messages that all ranks leave out are no error; else another reason is raised, or that of the first") {
    struct part {
        bool is_frame, leaves_out;
        char const* why;
    };
    auto const raised_with = [](std::vector<part> const& parts) {
        std::vector<std::string> errors(3);
        threads::run(3, [&](threads::member& comm) {
            auto const me = static_cast<std::size_t>(comm.rank());
            error_frame mine;
            parts[me].leaves_out ? mine.left_out(parts[me].why) : mine.because(parts[me].why);
            CHECK_FALSE(mine.is_not_finite());
            CHECK(mine.coordinate() == 0);
            comm.all_gather({mine.bytes(), parts[me].is_frame});
            auto const text_of = [&](auto raise) {
                try {
                    raise();
                } catch (compression_error const& e) {
                    return std::string(e.what());
                }
                return std::string("nothing");
            };
            errors[me] = text_of([&] { error_frame::raise_unless_left_out(comm, 4); });
            if (errors[me] != "nothing") CHECK(errors[me] == text_of([&] { error_frame::raise_first(comm, 4); }));
        });
        for (auto const& text : errors) CHECK(text == errors[0]);
        return errors[0];
    };
    CHECK(raised_with({{true, true, "a"}, {true, true, "a"}, {true, true, "a"}}) == "nothing");
    CHECK(raised_with({{true, true, "a"}, {true, true, "a"}, {true, false, "b"}}) == "rank 2, round 4: b");
    CHECK(raised_with({{true, true, "a"}, {false, false, "a message"}, {true, true, "a"}}) == "rank 0, round 4: a");
    CHECK(raised_with({{false, false, "a message"}, {true, true, "a"}, {true, true, "a"}}) == "rank 1, round 4: a");
}
