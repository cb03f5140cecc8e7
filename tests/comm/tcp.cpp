// SPDX-License-Identifier: Apache-2.0
// Also tests tcp_link.hpp, tcp_links.hpp, tcp_mesh.hpp.
// Ranks over TCP gather, exchange and split as over other engines; who ends, stalls or sends what is no message is
// named.
#include "laconic/comm/tcp.hpp"

#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "support/end_of_a_run.hpp"
#include "support/everything.hpp"
#include "support/over_tcp.hpp"
#include "support/schedules.hpp"
#include "support/subgroups.hpp"

using namespace std::chrono_literals;

static_assert(PointToPoint<tcp> && Overlapping<tcp> && Splitting<tcp>);

bool same(std::span<std::byte const> a, std::span<std::byte const> b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}
std::vector<std::string> nothing(int ranks) { return std::vector<std::string>(static_cast<std::size_t>(ranks)); }

TEST_CASE("ranks over TCP gather, exchange in pairs and in lanes, by any schedule") {
    std::atomic<int> wrong = 0;
    for (int n = 1; n <= 6; ++n) {
        CAPTURE(n);
        CHECK(over_tcp(n, [&](tcp& engine) {
                  any_communicator comm(engine);
                  wrong += schedules::all(comm) + schedules::refuses_ranks_that_do_not_exist(comm) +
                           schedules::refuses_what_comes_between(comm) +
                           schedules::in_flight_together(comm, 10, 300000) + schedules::collectives(comm);
              }) == nothing(n));
        CHECK(wrong == 0);
    }
}

TEST_CASE("ranks are split by color and key, and what goes through one part mixes with no other") {
    for (int const n : {1, 4, 5}) {
        std::atomic<int> wrong = 0;
        CHECK(over_tcp(n, [&](tcp& comm) { wrong += subgroups::all(comm); }) == nothing(n));
        CHECK(wrong == 0);
    }
}

TEST_CASE("a run over TCP is the same as over threads, bit for bit and byte for byte") {
    std::vector<std::vector<double>> ours(4), theirs(4);
    auto const body = [](auto& all) {
        return [&all](auto& engine) {
            any_communicator comm(engine);
            all[std::size_t(comm.rank())] = short_run::end_of_a_run(comm, diana{rand_k{0.2}});
        };
    };
    CHECK(over_tcp(4, body(ours)) == nothing(4));
    threads::run(4, body(theirs));
    CHECK(ours == theirs);
    CHECK(ours[0].back() > 0);
}

TEST_CASE("messages of megabytes, longer than the system's buffers, cross; lanes and all directions at the same time") {
    std::size_t const n = 9000000;
    auto const message = [](int rank, int round) {
        std::vector<std::byte> all(n + std::size_t(rank));
        for (std::size_t i = 0; i < all.size(); i += 1000)
            all[i] = std::byte(i / 1000 * std::size_t(7 + rank) + std::size_t(round));
        return all;
    };
    CHECK(over_tcp(3, [&](tcp& comm) {
              for (int round = 0; round < 2; ++round) {
                  auto const mine = message(comm.rank(), round);
                  comm.exchange((comm.rank() + 1) % 3, {mine}, no_rank);
                  comm.start_all_gather({mine, false, n}, 1);
                  comm.start_all_gather({mine, true, n}, 0);
                  for (int const lane : {1, 0}) {
                      comm.finish(lane);
                      for (int r = 0; r < 3; ++r) {
                          auto const theirs = comm.from(r);
                          REQUIRE(theirs.bytes.size() == n + std::size_t(r));
                          REQUIRE(theirs.is_error == (lane == 0));
                          REQUIRE(same(theirs.bytes, message(r, round)));
                      }
                  }
                  auto const last = comm.exchange(no_rank, {}, (comm.rank() + 2) % 3).bytes;
                  REQUIRE(same(last, message((comm.rank() + 2) % 3, round)));
              }
          }) == nothing(3));
}

TEST_CASE("after a call ranks may wait for each other by other means: what they have sent arrives") {
    std::vector<std::byte> const message(30000000);
    auto const calls = {+[](tcp& comm, payload m) { comm.all_gather(m); },
                        +[](tcp& comm, payload m) { comm.gather(0, m); },
                        +[](tcp& comm, payload m) { comm.broadcast(1, m); },
                        +[](tcp& comm, payload m) { comm.exchange((comm.rank() + 1) % 3, m, (comm.rank() + 2) % 3); }};
    for (auto const call : calls) {
        std::atomic<int> after = 0;
        CHECK(over_tcp(3, [&](tcp& comm) {
                  call(comm, {message});
                  ++after;
                  auto const until = std::chrono::steady_clock::now() + 20s;
                  while (after < 3 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);
                  REQUIRE(after == 3);
              }) == nothing(3));
    }
}

TEST_CASE("ranks that know only where rank 0 listens meet there, whoever comes first") {
    auto const meet = tcp::listener("127.0.0.1:0").address();  // free, for all that others do
    for (int const late : {0, 2}) {
        std::vector<std::thread> all;
        std::atomic<int> wrong = 0;
        for (int r = 0; r < 3; ++r)
            all.emplace_back([&, r] {
                if (r == late) std::this_thread::sleep_for(200ms);
                tcp engine(r, 3, meet, {.deadline = 60s, .run = 7});
                any_communicator comm(engine);
                wrong += schedules::collectives(comm);
            });
        for (auto& t : all) t.join();
        CHECK(wrong == 0);
    }
    tcp alone(0, 1, "[::1]:0");
    alone.all_gather({});
    CHECK(alone.from(0).bytes.empty());
}

TEST_CASE("a process that is killed is an error of all others that names it, whatever they wait for") {
    std::vector<tcp::listener> listeners;
    std::vector<std::string> addresses;
    for (int r = 0; r < 4; ++r) addresses.push_back(listeners.emplace_back("127.0.0.1:0").address());
    std::vector<pid_t> pids;
    for (int r = 0; r < 4; ++r) {
        pids.push_back(::fork());
        REQUIRE(pids.back() >= 0);
        if (pids.back() > 0) continue;
        int right = 0;
        try {
            tcp comm(listeners[std::size_t(r)], r, addresses, {.deadline = 60s});
            if (schedules::all(comm) != 0) ::_exit(2);
            comm.all_gather({});
            if (r == 2) ::raise(SIGKILL);
            auto const names_it = [&](auto call) {
                try {
                    call();
                } catch (comm_error const& e) {
                    right += e.rank == 2 && std::string_view(e.what()).starts_with("rank 2 has ended");
                }
            };
            if (r == 0) names_it([&] { comm.exchange(no_rank, {}, 2); });
            if (r == 1) names_it([&] { comm.all_gather({}); });
            if (r == 3) names_it([&] { comm.exchange(no_rank, {}, 1); });  // which has failed, too
            names_it([&] { comm.all_gather({}); });
        } catch (...) {
            ::_exit(3);
        }
        ::_exit(right == 2 ? 0 : 1);
    }
    for (int r = 0; r < 4; ++r) {
        int status = 0;
        ::waitpid(pids[std::size_t(r)], &status, 0);
        CAPTURE(r);
        if (r == 2)
            CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
        else
            CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
    }
}

TEST_CASE("a rank that ends early sends what it has to first; who waits for more of it gets an error") {
    std::vector<std::byte> const bytes(20000000, std::byte{5});
    auto const thrown = over_tcp(2, [&](tcp& comm) {
        if (comm.rank() == 0) {
            comm.exchange(1, {bytes}, no_rank);
            return comm.broadcast(0, {bytes});
        }
        std::this_thread::sleep_for(50ms);
        comm.broadcast(0, {});
        REQUIRE(same(comm.from(0).bytes, bytes));
        REQUIRE(same(comm.exchange(no_rank, {}, 0).bytes, bytes));
        comm.all_gather({});
    });
    CHECK(thrown == std::vector<std::string>{"", detail::abort_reason::left(0)});
}

TEST_CASE("a rank that leaves a part is named to those who wait there, by its number in what it is a part of") {
    auto const thrown = over_tcp(4, [&](tcp& comm) {
        auto part = comm.split(comm.rank() == 0 ? 1 : 0, -comm.rank());
        part.all_gather({});
        if (comm.rank() == 3) auto const ends = std::move(part);
        if (comm.rank() == 1 || comm.rank() == 2) part.all_gather({});
        comm.all_gather({});
    });
    auto const why = detail::abort_reason::left(3);
    CHECK(thrown == std::vector(4, why));
}

TEST_CASE("at the deadline the rank that is awaited is named, to all that wait, and later calls repeat it") {
    std::atomic<int> done = 0;
    auto const thrown = over_tcp(3,
                                 [&](tcp& comm) {
                                     comm.all_gather({});
                                     if (comm.rank() == 2) {
                                         while (done < 2) std::this_thread::sleep_for(1ms);
                                         return;
                                     }
                                     for (int times = 0; times < 2; ++times) {
                                         std::string why;
                                         try {
                                             comm.all_gather({});
                                         } catch (comm_error const& e) {
                                             why = e.what();
                                             REQUIRE(e.rank == 2);
                                         }
                                         REQUIRE(why == "rank 2 did not come within 200 ms");
                                     }
                                     ++done;
                                 },
                                 {.deadline = 200ms});
    CHECK(thrown == nothing(3));

    auto const missing = at_listeners(3, [&](tcp::listener& own, int rank, std::vector<std::string> const& all) {
        if (rank != 1) tcp(own, rank, all, {.deadline = 200ms});
    });
    CHECK(missing[0].starts_with("rank 1 did not connect to 127.0.0.1:"));
    CHECK(missing[2] == "rank 1 did not answer within 200 ms");
    CHECK_THROWS_AS(tcp(1, 2, "127.0.0.1:1", {.deadline = 100ms}), comm_error);
    CHECK_THROWS_AS(tcp(2, 2, "127.0.0.1:1"), argument_error);
    CHECK_THROWS_AS(tcp(0, 2, "127.0.0.1"), argument_error);
    CHECK_THROWS_AS(tcp(0, 2, "127.0.0.1:0", {.deadline = -1ms}), argument_error);
    tcp::listener const taken("127.0.0.1:0");
    CHECK_THROWS_AS(tcp::listener(taken.address()), comm_error);
}

// What a connection gets that begins with these bytes: the other end's greeting, or its end.
std::size_t answer(std::string const& address, std::span<std::byte const> first) {
    detail::deadline const how(10s);
    auto const until = how.from_now();
    auto const socket = detail::tcp_connect(0, address, how, until);
    socket.send(first, how, until);
    std::array<std::byte, sizeof(detail::tcp_greeting)> reply;
    return socket.receive(reply, how, until) ? reply.size() : 0;
}

TEST_CASE("the error of one rank ends the waits of all others, for whomever, too") {
    std::atomic<int> failed = 0;
    auto const thrown = over_tcp(4,
                                 [&](tcp& comm) {
                                     while (failed < 1 - comm.rank()) std::this_thread::sleep_for(1ms);
                                     try {
                                         if (comm.rank() < 2) comm.exchange(no_rank, {}, 3 - comm.rank());
                                     } catch (comm_error const&) {
                                         ++failed;
                                         throw;
                                     }
                                     while (failed < 2) std::this_thread::sleep_for(1ms);
                                 },
                                 {.deadline = 200ms});
    std::string const why = "rank 2 sent nothing within 200 ms";
    CHECK(thrown == std::vector<std::string>{why, why, "", ""});
}

TEST_CASE("connections that do not begin as those of an awaited rank of this run do are closed, and the run goes on") {
    tcp::listener const own("127.0.0.1:0"), other("127.0.0.1:0");
    std::vector<std::string> const addresses{own.address(), other.address()};
    key run{9};
    for (auto const& a : addresses) {
        for (char const c : a) run = run.child(static_cast<unsigned char>(c));
        run = run.child(256);
    }
    detail::tcp_greeting const right{.run = run.bits, .size = 2, .rank = 1};
    std::thread zero([&] {
        tcp comm(own, 0, addresses, {.deadline = 60s, .run = 9});
        comm.all_gather({});
    });
    std::vector<detail::tcp_socket> silent;
    for (int i = 0; i < 100; ++i)
        silent.push_back(
            detail::tcp_connect(0, own.address(), detail::deadline(10s), detail::deadline(10s).from_now()));
    // Of those that do not greet the oldest are closed.
    detail::deadline const patience(10s);
    auto const until = patience.from_now();
    std::byte one{};
    CHECK_FALSE(silent[0].receive(std::span(&one, 1), patience, until));
    CHECK_FALSE(patience.is_over(until));
    std::vector<std::byte> const noise(5000, std::byte{71});
    CHECK(answer(own.address(), noise) == 0);
    for (int what = 0; what < 6; ++what) {
        auto wrong = right;
        if (what == 0) wrong.run = 9;
        if (what == 1) wrong.size = 3;
        if (what == 2) wrong.rank = 0;
        if (what == 3) wrong.rank = 2;
        if (what == 4) wrong.version[7] = '0';
        if (what == 5) wrong.order <<= 8;
        CAPTURE(what);
        CHECK(answer(own.address(), wrong.bytes()) == 0);
    }
    CHECK_THROWS_AS(tcp(other, 1, addresses, {.deadline = 10s, .run = 8}), comm_error);
    tcp comm(other, 1, addresses, {.deadline = 60s, .run = 9});
    comm.all_gather({});
    zero.join();
    CHECK(right.fits(right));
}

// Rank 1 is this test, which sends these bytes once the ranks are connected; what rank 0 throws in an all-gather.
std::string thrown_at(std::vector<std::byte> const& bytes, std::size_t most) {
    std::string why;
    at_listeners(2, [&](tcp::listener& own, int rank, std::vector<std::string> const& addresses) {
        if (rank == 0) {
            tcp comm(own, 0, addresses, {.deadline = 60s});
            try {
                comm.all_gather({{}, false, most});
            } catch (comm_error const& e) {
                why = e.what();
                REQUIRE(e.rank == 1);
            }
            return;
        }
        detail::deadline const how(60s);
        detail::tcp_door const door("127.0.0.1:0");
        auto const mesh = detail::tcp_mesh(door, 1, addresses, 0, how);
        mesh[0].send(bytes, how, how.from_now());
        ::shutdown(mesh[0].get(), SHUT_WR);
        std::byte end{};
        while (mesh[0].receive(std::span(&end, 1), how, how.from_now())) {
        }
    });
    return why;
}
std::vector<std::byte> header_of(detail::tcp_header h) {
    auto const bytes = std::as_bytes(std::span(&h, 1));
    return {bytes.begin(), bytes.end()};
}

TEST_CASE("bytes that are no message, and lengths that cannot be, are errors that name their rank") {
    using detail::tcp_header;
    auto header = [](auto change) {
        tcp_header h;
        change(h);
        return header_of(h);
    };
    std::string const no_message = "rank 1 sent what is no message";
    CHECK(thrown_at(std::vector<std::byte>(100, std::byte{71}), 0) == no_message);
    CHECK(thrown_at(header([](auto& h) { h.is = 4; }), 0) == no_message);
    CHECK(thrown_at(header([](auto& h) { h.is_error = 2; }), 0) == no_message);
    auto const left = detail::abort_reason::left(1);
    // Of 2^60 bytes few come: an error at once where a bound is known, else the end of the connection.
    auto long_one = header([](auto& h) { h.length = std::uint64_t{1} << 60; });
    long_one.resize(10000);
    CHECK(thrown_at(long_one, 0) == left);
    CHECK(thrown_at(long_one, 100) ==
          "rank 1 sends 1152921504606846976 bytes, where at most 65636 can come: all ranks must make the same calls in "
          "the same order");
    CHECK(thrown_at(header([](auto& h) { h.is = tcp_header::failed, h.length = 70000; }), 0)
              .starts_with("rank 1 sends 7"));
    CHECK(thrown_at(header([](auto& h) { h.is = tcp_header::failed, h.length = 4; }), 0) == no_message);
}

TEST_CASE("a message that is longer than its kind can be is an error whether it comes before the call or after") {
    for (bool const early : {false, true}) {
        std::vector<std::byte> const bytes(65637);
        auto const thrown = over_tcp(2, [&](tcp& comm) {
            if ((comm.rank() == 0) == early) std::this_thread::sleep_for(50ms);
            comm.all_gather({std::span(bytes).first(comm.rank() == 0 ? 0 : bytes.size() - 1), false, 100});
            comm.all_gather({std::span(bytes).first(comm.rank() == 0 ? 0 : bytes.size()), false, 100});
        });
        CHECK(thrown[0].starts_with("rank 1 sends 65637 bytes, where at most 65636 can come"));
    }
}
