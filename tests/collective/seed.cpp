// SPDX-License-Identifier: Apache-2.0
// A seed that is given is the same on all ranks or an error on all; one that is drawn is rank 0's, until a state's.
#include "laconic/collective/seed.hpp"

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"

using detail::shared_seed;

struct outcome {
    std::uint64_t seed = 0, bytes = 0;
    std::string error;
};
std::vector<outcome> agreed(std::vector<std::optional<std::uint64_t>> const& given) {
    std::vector<outcome> all(given.size());
    fibers::run(static_cast<int>(given.size()), [&](fibers::member& inner) {
        auto& mine = all[static_cast<std::size_t>(inner.rank())];
        metered comm(inner);
        shared_seed seed(given[static_cast<std::size_t>(inner.rank())]);
        try {
            seed.agree(comm, {{"a size", "3"}});
            mine.seed = seed.value();
        } catch (agreement_error const& e) {
            mine.error = e.what();
        }
        mine.bytes = comm.bytes_sent();
    });
    return all;
}
std::vector<std::byte> state_of(std::string const& owner) { return wire::state_writer(owner).finish(); }

TEST_CASE("a seed that is given to all is theirs, and one that is given to none is drawn anew, at no further cost") {
    for (auto const& one : agreed({7, 7, 7})) {
        CHECK(one.seed == 7);
        CHECK(one.bytes == 16);
    }
    auto const all = agreed({{}, {}, {}}), again = agreed({{}, {}, {}});
    for (auto const& one : all) {
        CHECK(one.error.empty());
        CHECK(one.seed == all[0].seed);
        CHECK(one.bytes == 16);
    }
    CHECK(again[2].seed != all[2].seed);
    CHECK(all[0].seed > 0xffffffff);  // both halves are drawn, except for one of 2^32 seeds
}

TEST_CASE("where some ranks are given a seed and others none, or another, all throw") {
    for (auto const& one : agreed({{}, 7, 7}))
        CHECK(one.error == "ranks disagree: rank 0 has \"the seed: not given\", rank 1 has \"the seed: 7\"");
    for (auto const& one : agreed({0, 0, {}}))
        CHECK(one.error == "ranks disagree: rank 0 has \"the seed: 0\", rank 2 has \"the seed: not given\"");
    for (auto const& one : agreed({7, 8}))
        CHECK(one.error == "ranks disagree: rank 0 has \"the seed: 7\", rank 1 has \"the seed: 8\"");
}

TEST_CASE("one that was drawn gives way to that of a state or of rank 0, one that was given does not") {
    auto const of_9 = state_of("a: 1\nthe seed: 9\nrank 0 of 1\n");
    CHECK(detail::saved_seed(of_9) == 9);
    CHECK(detail::saved_seed(state_of("the seed: 18446744073709551615\n")) == 18446744073709551615u);
    CHECK(!detail::saved_seed(state_of("not the seed: 9\n")));
    CHECK(!detail::saved_seed(state_of("the seed: none\n")));
    auto damaged = of_9;
    damaged[24] ^= std::byte{1};
    CHECK_THROWS_AS(detail::saved_seed(damaged), wire_error);
    CHECK_THROWS_AS(detail::saved_seed({}), wire_error);

    shared_seed given(7), drawn({});
    CHECK(given.is_given());
    CHECK(!drawn.is_given());
    CHECK(given.for_state(of_9) == 7);
    CHECK(drawn.for_state(of_9) == 9);
    given.replace(9), drawn.replace(9);
    CHECK(given.value() == 7);
    CHECK(drawn.value() == 9);
    CHECK(drawn.for_state(state_of("a: 1\n")) == 9);
    fibers::run(2, [&](fibers::member& comm) {
        shared_seed seed({});
        seed.replace(comm.rank() == 0 ? 4 : 5);
        seed.agree(comm, {});
        CHECK(seed.value() == 4);
    });
}
