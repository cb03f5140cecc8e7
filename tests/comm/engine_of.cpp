// SPDX-License-Identifier: Apache-2.0
// A communicator of two functions: messages of any length arrive, errors too, and blocks follow the messages' lengths.
#include "laconic/comm/engine_of.hpp"

#include "support/everything.hpp"

// An all-gather of blocks of equal length over threads, which counts the gathers and their bytes.
struct equal_blocks {
    explicit equal_blocks(threads::member& member) : over(member) {}
    threads::member& over;
    int gathers = 0;
    std::size_t bytes = 0;

    auto engine() {
        return engine_of(
            over.rank(), over.size(),
            [this](int lane, std::span<std::byte const> mine, std::span<std::byte> all) {
                REQUIRE(all.size() == mine.size() * static_cast<std::size_t>(over.size()));
                started_[static_cast<std::size_t>(lane)] = {mine, all};
                ++gathers, bytes += mine.size();
            },
            [this](int lane) {
                auto const [mine, all] = started_[static_cast<std::size_t>(lane)];
                over.all_gather({mine});
                auto const n = all.size() / static_cast<std::size_t>(over.size());
                for (int r = 0; r < over.size(); ++r) {
                    auto const theirs = over.from(r).bytes;
                    REQUIRE(theirs.size() == n);
                    std::copy(theirs.begin(), theirs.end(),
                              all.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(r) * n));
                }
            });
    }

  private:
    std::array<std::pair<std::span<std::byte const>, std::span<std::byte>>, 8> started_{};
};

std::vector<std::byte> bytes_of(int rank, std::size_t n) {
    std::vector<std::byte> all(n);
    for (std::size_t i = 0; i < n; ++i) all[i] = static_cast<std::byte>(i * 7 + static_cast<std::size_t>(rank));
    return all;
}

TEST_CASE("messages of any length and error frames arrive, in lanes, and lanes keep their order") {
    threads::run(3, [](threads::member& member) {
        equal_blocks over(member);
        auto comm = over.engine();
        static_assert(Overlapping<decltype(comm)> && !PointToPoint<decltype(comm)>);
        for (std::size_t const n : {0, 5, 4, 1000, 1, 70000, 0}) {
            auto const length = [&](int r) { return n + n * static_cast<std::size_t>(r) / 2; };
            auto const mine = bytes_of(comm.rank(), length(comm.rank()));
            comm.start_all_gather({mine, false, 9}, 2);
            comm.start_all_gather({mine, comm.rank() == 1, 7}, 0);
            CHECK_THROWS_AS(comm.all_gather({}), argument_error);
            CHECK_THROWS_AS(comm.finish(0), argument_error);
            comm.finish(2);
            for (int r = 0; r < 3; ++r) CHECK(std::ranges::equal(comm.from(r).bytes, bytes_of(r, length(r))));
            comm.finish(0);
            for (int r = 0; r < 3; ++r) {
                CHECK(std::ranges::equal(comm.from(r).bytes, bytes_of(r, length(r))));
                CHECK(comm.from(r).is_error == (r == 1));
            }
            comm.broadcast(2, {mine});
            CHECK(std::ranges::equal(comm.from(2).bytes, bytes_of(2, length(2))));
            comm.gather(1, {mine});
            if (comm.rank() == 1) CHECK(std::ranges::equal(comm.from(2).bytes, bytes_of(2, length(2))));
        }
        CHECK_THROWS_AS(comm.broadcast(3, {}), argument_error);
        CHECK_THROWS_AS(comm.start_all_gather({}, 8), argument_error);
    });
    auto const nothing = [](auto&&...) {};
    CHECK_THROWS_WITH_AS(engine_of(3, 3, nothing, nothing), "an engine of rank 3 of 3", argument_error);
}

TEST_CASE("a message is gathered once where those of its kind were as long, with 3 % more room and its length") {
    threads::run(2, [](threads::member& member) {
        equal_blocks over(member);
        auto comm = over.engine();
        auto const gather = [&](std::size_t n, std::size_t most) {
            auto const before = std::pair(over.gathers, over.bytes);
            comm.all_gather({bytes_of(comm.rank(), n + static_cast<std::size_t>(comm.rank())), false, most});
            return std::pair(over.gathers - before.first, over.bytes - before.second);
        };
        // The first of its kind: lengths, and then the messages, of 99 and 100 bytes.
        CHECK(gather(99, 1000) == std::pair(2, std::size_t{8 + 8 + 100}));
        CHECK(gather(99, 1000) == std::pair(1, std::size_t{8 + 103}));
        CHECK(gather(90, 1000) == std::pair(1, std::size_t{8 + 103}));
        CHECK(gather(30, 2000).first == 2);
        CHECK(gather(99, 1000) ==
              std::pair(1, std::size_t{8 + 101}));  // a quarter of the room that was not needed went
        CHECK(gather(150, 1000) == std::pair(2, std::size_t{8 + 103 + 8 + 151}));
        // Room that is not needed is given up by and by.
        for (int i = 0; i < 40; ++i) gather(9, 1000);
        CHECK(gather(9, 1000).second < 8 + 16);
    });
}

TEST_CASE("sums over two functions are those of all ranks, in pieces, too, and other collectives are refused") {
    threads::run(3, [](threads::member& member) {
        equal_blocks over(member);
        auto comm = over.engine();
        std::vector<float> x(300000);
        for (std::size_t i = 0; i < x.size(); ++i)
            x[i] = static_cast<float>(i % 1000) + static_cast<float>(comm.rank());
        sum(comm, x, engine_all_reduce{});
        int wrong = 0;
        for (std::size_t i = 0; i < x.size(); ++i) wrong += x[i] != 3 * static_cast<float>(i % 1000) + 3;
        CHECK(wrong == 0);
        std::vector<double> y{1.0 + comm.rank()};
        mean(comm, y, engine_all_reduce{});
        CHECK(y[0] == 2);
        any_communicator any(comm);
        CHECK_THROWS_AS(sum(any, x, ring{}), argument_error);
    });
}

TEST_CASE("a reducer over two functions computes the same bits as over threads, and its errors reach all ranks") {
    threads::run(4, [](threads::member& member) {
        auto other = member.duplicate();
        equal_blocks over(member);
        auto comm = over.engine();
        auto const layers = layers_of({300, 5, 5000});
        reducer a(error_feedback{top_k{0.05}}, other, layers);
        reducer b(error_feedback{top_k{0.05}}, comm, layers);
        for (int step = 0; step < 12; ++step) {
            std::vector<std::vector<float>> x;
            for (auto const& l : layers) x.emplace_back(l.size);
            for (auto& v : x)
                for (std::size_t i = 0; i < v.size(); ++i)
                    v[i] = static_cast<float>((static_cast<int>(i) * 31 + step * 17 + comm.rank() * 5) % 101 - 50);
            auto y = x;
            auto const before = over.gathers;
            for (std::size_t l = 3; l-- > 0;) a.start(l, x[l]), b.start(l, y[l]);
            if (step == 7) {
                b.drop(), a.drop();
                continue;
            }
            a.finish(), b.finish();
            CHECK(x == y);
            if (step > 1 && step < 7) CHECK(over.gathers - before == 2);  // the two smaller layers share one
        }
        std::vector<float> bad(5000, 1);
        if (comm.rank() == 2) bad[7] = NAN;
        b.start(2, bad);
        CHECK_THROWS_AS(b.finish(), error);
    });
}

TEST_CASE("what the functions throw reaches the caller, and the next gather may follow") {
    bool fails = false;
    auto comm = engine_of(
        0, 1,
        [&](int, std::span<std::byte const> mine, std::span<std::byte> all) {
            std::copy(mine.begin(), mine.end(), all.begin());
        },
        [&](int) {
            if (fails) throw comm_error(0, "the link is down");
        });
    comm.all_gather({bytes_of(0, 3)});
    fails = true;
    CHECK_THROWS_WITH_AS(comm.all_gather({bytes_of(0, 3)}), "the link is down", comm_error);
    fails = false;
    comm.all_gather({bytes_of(0, 4)});
    CHECK(std::ranges::equal(comm.from(0).bytes, bytes_of(0, 4)));
}

TEST_CASE(
    "a block that is damaged in its first bytes is an error that names the rank, and the next gather may follow") {
    std::uint64_t damage = 0;  // of rank 1's header, which else is that of rank 0
    int gathers = 0;
    std::span<std::byte const> sent;
    std::span<std::byte> blocks;
    auto comm = engine_of(
        0, 2,
        [&](int, std::span<std::byte const> mine, std::span<std::byte> all) {
            REQUIRE(all.size() == 2 * mine.size());
            sent = mine, blocks = all, ++gathers;
        },
        [&](int) {
            std::copy(sent.begin(), sent.end(), blocks.begin());
            std::copy(sent.begin(), sent.end(), blocks.begin() + static_cast<std::ptrdiff_t>(sent.size()));
            std::uint64_t header;
            std::memcpy(&header, sent.data(), sizeof header);
            header ^= damage;
            std::memcpy(blocks.data() + sent.size(), &header, sizeof header);
        });
    auto const gather = [&] {
        gathers = 0;
        comm.all_gather({bytes_of(0, 300), false, 1});
    };
    for (int bit = 0; bit < 64; ++bit) {
        damage = std::uint64_t{1} << bit;
        CHECK_THROWS_WITH_AS(gather(), "the block of rank 1 is damaged", comm_error);
        CHECK(gathers == 1);
    }
    damage = 0;
    gather();
    CHECK(comm.from(1).bytes.size() == 300);
}
