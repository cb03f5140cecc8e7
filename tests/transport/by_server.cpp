// SPDX-License-Identifier: Apache-2.0
#include "laconic/transport/by_server.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "laconic/comm/metered.hpp"
#include "laconic/comm/threads.hpp"
#include "laconic/compress/identity.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/top_k.hpp"

using namespace laconic;

namespace {

using vec = std::vector<double>;
using all_numbers = message_of<identity>;

vec random_vector(std::size_t d, std::uint64_t seed) {
    vec x(d);
    for (std::size_t j = 0; j < d; ++j) x[j] = key{seed}.uniform(j) - .5;
    return x;
}
std::uint64_t number(int rank) { return static_cast<std::uint64_t>(rank); }

// What a round of both kinds of collective gives each rank, each rank's words being compressed by c.
template <class C>
struct both {
    std::vector<vec> gathered, served;

    both(C const& c, int n, std::size_t d) : gathered(number(n), vec(d)), served(number(n), vec(d)) {
        threads::run(n, [&](threads::member& comm) {
            auto const me = number(comm.rank());
            host on;
            auto const blank = [&](auto&, int r, auto& m) { c.blank(on, d, key{9}.child(number(r)), m); };
            auto const ignore_errors = [](int, std::span<std::byte const>) {};
            message_of<C> mine;
            c(on, std::span<double const>(random_vector(d, me)), key{9}.child(me), mine);
            by_gather<message_of<C>, double> gather;
            by_server<message_of<C>, all_numbers, double> server;
            for (int again = 0; again < 3; ++again) {
                gather.send(on, comm, mine, d);
                gathered[me].assign(d, 0.0);
                gather.receive(on, comm, blank, ignore_errors, std::span<double>(gathered[me]));
                server.send(on, comm, mine, d);
                vec mean(d);
                all_numbers received;
                server.receive(
                    on, comm, blank, ignore_errors, std::span<double>(mean),
                    [](std::span<double> out, all_numbers& m) { m.values.assign(out.begin(), out.end()); },
                    [&](auto&, all_numbers& m) { m.values.resize(d); }, received);
                served[me] = received.values;
            }
        });
    }
};

// Three ranks of two numbers each, where things may go wrong; what each is told, and that the next round is a good one.
struct trial {
    int sends_error = -1, damages = -1;
    bool answer_fails = false, answer_damaged = false, unreadable = false;

    struct damaging {
        threads::member* inner;
        bool sent, told, unreadable;
        std::vector<std::byte> bytes{};

        int rank() const { return inner->rank(); }
        int size() const { return inner->size(); }
        payload damaged(payload c) {
            bytes.assign(c.bytes.begin(), c.bytes.end());
            bytes.resize(bytes.size() - 3);
            return {bytes, c.is_error};
        }
        void all_gather(payload mine) { inner->all_gather(mine); }
        void gather(int root, payload mine) { inner->gather(root, sent ? damaged(mine) : mine); }
        void broadcast(int root, payload mine) {
            if (unreadable && rank() == root) mine = {mine.bytes.first(5), true};
            inner->broadcast(root, told && rank() == root ? damaged(mine) : mine);
        }
        payload from(int r) const { return inner->from(r); }
    };

    std::array<std::string, 3> run() const {
        std::array<std::string, 3> told;
        threads::run(3, [&](threads::member& inner) {
            auto const me = number(inner.rank());
            host on;
            by_server<all_numbers, all_numbers, double> server;
            vec mean(2);
            all_numbers const mine{{3. * (1 + inner.rank()), 1}};
            all_numbers received;
            auto const round = [&](damaging comm, bool good) {
                mean = {0, 0};
                std::byte const words[2] = {std::byte{7}, std::byte(me)};
                if (!good && (sends_error == inner.rank() || (sends_error >= 0 && inner.rank() == 2)))
                    server.send_error(comm, words);
                else
                    server.send(on, comm, mine, 2);
                server.receive(
                    on, comm, [](auto&, int, all_numbers& m) { m.values.resize(2); },
                    [](int r, std::span<std::byte const> bytes) {
                        throw argument_error("rank " + std::to_string(r) + " sends " + std::to_string(int(bytes[0])) +
                                             std::to_string(int(bytes[1])) + " in " + std::to_string(bytes.size()));
                    },
                    std::span<double>(mean),
                    [&](std::span<double> d, all_numbers& m) {
                        if (!good && answer_fails) throw theory_error("nothing to send");
                        m.values = {10 * d[0], 10 * d[1]};
                    },
                    [](auto&, all_numbers& m) { m.values.resize(2); }, received);
            };
            try {
                round({&inner, damages == inner.rank(), answer_damaged, unreadable}, false);
                told[me] = "no error";
            } catch (wire_error const& e) {
                told[me] = "wire_error: " + std::string(e.what());
            } catch (argument_error const& e) {
                told[me] = "argument_error: " + std::string(e.what());
            } catch (theory_error const& e) {
                told[me] = "theory_error: " + std::string(e.what());
            } catch (comm_error const& e) {
                told[me] = "comm_error: " + std::string(e.what());
            } catch (error const& e) {
                told[me] = "error: " + std::string(e.what());
            }
            round({&inner, false, false, false}, true);
            if (received.values != vec{60, 10}) told[me] += ", and then the wrong mean";
        });
        return told;
    }
};

std::array<std::string, 3> all_three(std::string const& text) { return {text, text, text}; }

}  // namespace

TEST_CASE("with an answer in full every rank gets the mean that by_gather gives, bit for bit") {
    for (int const n : {1, 2, 5, 7}) {
        CAPTURE(n);
        auto const check = [&](auto const& c) {
            both const all(c, n, 23);
            for (auto const& x : all.served) CHECK(x == all.gathered[0]);
            CHECK(all.gathered[0] != vec(23));
        };
        check(identity{});
        check(top_k{5});
        check(rand_k{5});
        check(quantize{3});
    }
}

TEST_CASE("the mean is added to what the server has there, and nowhere else") {
    std::array<vec, 2> there;
    std::array<all_numbers, 2> received;
    threads::run(2, [&](threads::member& comm) {
        auto const me = number(comm.rank());
        host on;
        there[me] = {10, 20};
        by_server<all_numbers, all_numbers, double> server;
        server.send(on, comm, all_numbers{{4. * comm.rank(), 2}}, 2);
        server.receive(
            on, comm, [](auto&, int, all_numbers& m) { m.values.resize(2); }, [](int, std::span<std::byte const>) {},
            std::span<double>(there[me]),
            [](std::span<double> out, all_numbers& m) { m.values.assign(out.begin(), out.end()); },
            [](auto&, all_numbers& m) { m.values.resize(2); }, received[me]);
    });
    CHECK(there == std::array<vec, 2>{vec{12, 22}, vec{10, 20}});
    for (auto const& m : received) CHECK(m.values == vec{12, 22});
}

TEST_CASE("an error frame reaches every rank, the first one's alone, and nothing is left behind") {
    CHECK(trial{}.run() == all_three("no error"));
    CHECK(trial{.sends_error = 1}.run() == all_three("argument_error: rank 1 sends 71 in 2"));
    CHECK(trial{.sends_error = 0}.run() == all_three("argument_error: rank 0 sends 70 in 2"));
    CHECK(trial{.sends_error = 2}.run() == all_three("argument_error: rank 2 sends 72 in 2"));
}

TEST_CASE("damaged bytes reach every rank as the same wire_error, which names the rank") {
    for (int const r : {0, 1, 2}) {
        auto const told = trial{.damages = r}.run();
        CHECK(told == all_three(told[0]));
        CHECK(told[0].find("wire_error: at bit 64 ") == 0);
        CHECK(told[0].find("from rank " + std::to_string(r) + ": it ends ") != std::string::npos);
    }
    auto const told = trial{.answer_damaged = true}.run();
    CHECK(told == all_three(told[0]));
    CHECK(told[0].find("wire_error: at bit 64 ") == 0);
    CHECK(told[0].find("from rank 0: it ends ") != std::string::npos);
    // An error frame comes before any damage.
    CHECK(trial{.sends_error = 1, .damages = 0}.run() == all_three("argument_error: rank 1 sends 71 in 2"));
}

TEST_CASE("where the server finds no answer the others are told why") {
    auto const told = trial{.answer_fails = true}.run();
    CHECK(told == std::array<std::string, 3>{"theory_error: nothing to send", "error: nothing to send",
                                             "error: nothing to send"});
}

TEST_CASE("an unreadable error frame of the server is one") {
    auto const told = trial{.sends_error = 1, .unreadable = true}.run();
    CHECK(told[1] == "comm_error: rank 0 sent an unreadable error frame");
    CHECK(told[2] == told[1]);
}

TEST_CASE("up: each rank's message to the server; down: the server's to all, told once") {
    std::array<std::uint64_t, 3> sent{}, received{}, told{}, collected{};
    std::array<std::uint64_t, 2> counted_bits{};
    threads::run(3, [&](threads::member& inner) {
        metered comm(inner);
        host on;
        auto const me = number(comm.rank());
        auto const up = top_k{3} | quantize{3};
        auto const down = rand_k{5};
        message_of<decltype(up)> mine;
        message_of<decltype(down)> answer;
        up(on, std::span<double const>(random_vector(100, me)), key{1}, mine);
        by_server<message_of<decltype(up)>, message_of<decltype(down)>, double> server;
        vec mean(100);
        server.send(on, comm, mine, 100);
        server.receive(
            on, comm, [&](auto&, int, auto& m) { up.blank(on, 100, key{1}, m); },
            [](int, std::span<std::byte const>) {}, std::span<double>(mean),
            [&](std::span<double> d, auto& m) { down(on, std::span<double const>(d), key{2}, m); },
            [&](auto&, auto& m) { down.blank(on, 100, key{2}, m); }, answer);
        sent[me] = comm.bytes_sent();
        received[me] = comm.bytes_received();
        told[me] = comm.bytes_broadcast();
        collected[me] = comm.bytes_gathered();
        if (me == 0) counted_bits = {account(mine).unpadded(), account(answer).unpadded()};
    });
    CHECK(counted_bits == std::array<std::uint64_t, 2>{3 + 3 * 7 + 64 + 3 * 3, 5 * 64});  // of 13 bytes, and of 40
    CHECK(sent == std::array<std::uint64_t, 3>{13, 13, 13});
    CHECK(received == std::array<std::uint64_t, 3>{0, 40, 40});
    CHECK(told == std::array<std::uint64_t, 3>{40, 0, 0});
    CHECK(collected == std::array<std::uint64_t, 3>{26, 0, 0});
}
