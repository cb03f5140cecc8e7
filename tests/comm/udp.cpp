// SPDX-License-Identifier: Apache-2.0
// Packet machines in processes get right sums over UDP despite loss, strangers and damage, and name a killed process.
#include "laconic/comm/udp.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <chrono>
#include <cstdio>
#include <thread>

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"

using std::chrono::milliseconds;

// Results wait for the slowest of processes that share a few cores, and at heavy loss for what others send again: waits
// that follow them grow as long as they may.
constexpr retransmission impatient{.first = 0.005, .least = 0.001, .most = 0.01};

int open_files() {
    int n = 0;
    for (int f = 0; f < 256; ++f) n += ::fcntl(f, F_GETFD) != -1;
    return n;
}

// Runs body(socket, node), or body(socket, node, addresses of all), in a process for each node, connected over the
// loopback, and returns what each returned; "killed" where it did not. None is left when this returns, nor a socket.
template <class Body>
std::vector<std::string> processes(int nodes, udp::settings how, Body body, std::string const& own = "127.0.0.1:0") {
    constexpr std::size_t room = 512;
    auto const n = std::size_t(nodes);
    int const files = open_files();
    auto* const texts =
        static_cast<char*>(::mmap(nullptr, n * room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    REQUIRE(texts != MAP_FAILED);
    std::vector<pid_t> pids;
    {
        std::vector<udp> sockets;
        std::vector<std::string> all;
        for (std::size_t i = 0; i < n; ++i) {
            how.losses = key{9}.child(i);
            all.push_back(sockets.emplace_back(own, how).address());
        }
        for (std::size_t i = 0; i < n; ++i) {
            std::snprintf(texts + i * room, room, "killed");
            pids.push_back(::fork());
            REQUIRE(pids.back() >= 0);
            if (pids.back() > 0) continue;
            udp mine(std::move(sockets[i]));
            sockets.clear();
            std::string text;
            try {
                mine.set_peers(int(i), all);
                if constexpr (requires { body(mine, int(i), all); })
                    text = body(mine, int(i), all);
                else
                    text = body(mine, int(i));
            } catch (std::exception const& e) {
                text = e.what();
            }
            std::snprintf(texts + i * room, room, "%s", text.c_str());
            ::_exit(0);
        }
    }
    auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    for (auto const pid : pids) {
        while (::waitpid(pid, nullptr, WNOHANG) == 0) {
            if (std::chrono::steady_clock::now() > end) ::kill(pid, SIGKILL);
            std::this_thread::sleep_for(milliseconds(2));
        }
    }
    std::vector<std::string> results;
    for (std::size_t i = 0; i < n; ++i) results.emplace_back(texts + i * room);
    ::munmap(texts, n * room);
    CHECK(open_files() == files);
    return results;
}

std::vector<float> whole_numbers(std::size_t d, int rank, std::uint64_t round) {
    std::vector<float> x(d);
    auto const k = key{round}.child(std::uint64_t(rank));
    // Blocks of 64, every third of which is not zero, on each rank others.
    for (std::size_t i = 0; i < d; ++i)
        if ((i / 64 + std::size_t(rank)) % 3 == 0) x[i] = float(k.below(i, 2001)) - 1000;
    return x;
}

// Some rounds, from 1 on; "right" if all sums are.
template <class M>
std::string sums(udp& socket, M& machine, int node, int workers, std::size_t d, std::uint64_t rounds = 2) {
    for (std::uint64_t round = 1; round <= rounds; ++round) {
        auto x = node < workers ? whole_numbers(d, node, round) : std::vector<float>();
        machine.begin(std::span<float>(x), round);
        socket.run(machine);
        machine.finish();
        if (node >= workers) continue;
        std::vector<float> sum(d);
        for (int r = 0; r < workers; ++r) {
            auto const y = whole_numbers(d, r, round);
            for (std::size_t i = 0; i < d; ++i) sum[i] += y[i];
        }
        if (x != sum) return "wrong";
    }
    return "right";
}

// A machine whose process is killed when so many packets have come.
template <class M>
struct mortal {
    M* machine;
    int left;

    void start(double now, auto out) { machine->start(now, out); }
    bool take(double now, int from, std::span<std::byte const> packet, auto out) {
        if (left-- == 0) ::raise(SIGKILL);
        return machine->take(now, from, packet, out);
    }
    void wake(double now, auto out) { machine->wake(now, out); }
    double wakes_at() const { return machine->wakes_at(); }
    bool done() const { return machine->done(); }
    int waits_for() const { return machine->waits_for(); }
};

// Somewhere out of the same many: quick to draw, even where nothing is optimized.
std::span<std::byte const> any_bytes(key from, std::size_t length) {
    static auto const all = [] {
        std::vector<std::byte> bytes(8192);
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::byte(key{4}.word(i) & 255);
        return bytes;
    }();
    return std::span<std::byte const>(all).subspan(std::size_t(from.below(0, all.size() - length + 1)), length);
}

// A machine from whose address comes, besides each of its packets, what damage can make of it: any bytes of its length,
// one byte changed, and another round; and which counts the packets that brought it nothing.
template <class M>
struct noisy {
    M* machine;
    std::size_t round_at;  // where packets have it
    key draws;
    std::uint64_t packets = 0;
    int useless = 0;

    void begin(std::span<float> x, std::uint64_t round) { machine->begin(x, round); }
    void finish() const { machine->finish(); }

    auto with_noise(auto& out) {
        return [this, &out](int to, std::span<std::byte const> packet) {
            auto const from = draws.child(packets++);
            out(to, any_bytes(from, packet.size()));
            std::vector<std::byte> bytes;
            for (std::size_t const at : {std::size_t(from.below(0, packet.size())), round_at}) {
                bytes.assign(packet.begin(), packet.end());
                bytes[at] ^= std::byte(1 + from.below(1, 255));
                out(to, std::span<std::byte const>(bytes));
            }
            out(to, packet);
        };
    }
    void start(double now, auto out) { machine->start(now, with_noise(out)); }
    bool take(double now, int from, std::span<std::byte const> packet, auto out) {
        bool const is_new = machine->take(now, from, packet, with_noise(out));
        useless += !is_new;
        return is_new;
    }
    void wake(double now, auto out) { machine->wake(now, with_noise(out)); }
    double wakes_at() const { return machine->wakes_at(); }
    bool done() const { return machine->done(); }
    int waits_for() const { return machine->waits_for(); }
};

// Node 0 sends packets of these lengths to node 1, a few by each run; node 1 is done after as many.
struct of_lengths {
    std::vector<std::size_t> const* lengths;
    int node;
    std::size_t next = 0, batch_end = 0;
    std::vector<std::size_t> received{};
    bool right = true;

    std::vector<std::byte> packet(std::size_t i) const {
        std::vector<std::byte> bytes((*lengths)[i], std::byte(i % 251));
        std::memcpy(bytes.data(), &i, sizeof i);
        return bytes;
    }
    void start(double, auto out) {
        for (; node == 0 && next < batch_end; ++next) out(1, packet(next));
    }
    bool take(double, int, std::span<std::byte const> bytes, auto) {
        std::size_t i = lengths->size();
        if (bytes.size() >= sizeof i) std::memcpy(&i, bytes.data(), sizeof i);
        right &= i < lengths->size() && std::ranges::equal(bytes, packet(std::min(i, lengths->size() - 1)));
        received.push_back(i);
        ++next;
        return true;
    }
    void wake(double, auto) {}
    double wakes_at() const { return never; }
    bool done() const { return next == batch_end; }
    int waits_for() const { return no_rank; }
};

// Hands out any bytes of any length to each of so many nodes, and is done.
struct flood {
    int nodes;
    key draws;

    void start(double, auto out) {
        for (std::uint64_t n = 0; n < 2000; ++n) {
            auto const from = draws.child(n);
            out(int(n) % nodes, any_bytes(from, std::size_t(from.below(1, 1473))));
        }
    }
    bool take(double, int, std::span<std::byte const>, auto) { return false; }
    void wake(double, auto) {}
    double wakes_at() const { return never; }
    bool done() const { return true; }
    int waits_for() const { return no_rank; }
};

// What a stranger sends to all nodes, from an address that they do not know: what worker 1 would send in these and in
// later rounds if its numbers were not finite, and any bytes.
template <class M>
std::string as_a_stranger(std::vector<std::string> const& all, M machine, std::size_t d) {
    int const me = int(all.size()) - 1;
    udp outside("127.0.0.1:0", {.deadline = milliseconds(20)});
    outside.set_peers(me, all);
    int refused = 0;
    for (std::uint64_t const round : {1u, 3u, 7u, 20u}) {
        std::vector<float> x(d, NAN);
        machine.begin(std::span<float>(x), round);
        try {
            outside.run(machine);
        } catch (comm_error const&) {
            ++refused;
        }
        flood bytes{me, key{round}};
        outside.run(bytes);
    }
    return refused == 4 ? "refused" : "accepted";
}

TEST_CASE("SwitchML and OmniReduce between processes, with loss") {
    std::size_t const d = 20000;
    auto const right = [&](int nodes, double loss, auto make) {
        CHECK(processes(nodes, {.loss = loss}, [&](udp& socket, int node) {
                  auto machine = make(node);
                  return sums(socket, machine, node, 4, d);
              }) == std::vector<std::string>(std::size_t(nodes), "right"));
    };
    switch_layout const apart{.d = d, .workers = 4, .slot_count = 16};
    omni_stream const stream{.d = d, .workers = 4, .aggregators = 2, .block = 64, .fused = 4};
    for (double const loss : {0.0, 0.05, 0.2}) {
        right(5, loss, [&](int node) { return switch_machine<float>(apart, node, impatient); });
        right(6, loss, [&](int node) { return omni_machine<float>(stream, node, impatient); });
    }
}

TEST_CASE("workers that are the switches, too, get the bits that threads of one process get") {
    std::size_t const d = 5000;
    auto const fractions = [](int rank) {
        auto x = whole_numbers(d, rank, 3);
        for (auto& v : x) v /= 7;
        return x;
    };
    std::string expected;
    fibers::run(3, [&](fibers::member& comm) {
        host on;
        auto x = fractions(comm.rank());
        auto sum = make_sum<float>(switch_ml{}, comm, d);
        sum(on, comm, std::span<float>(x));
        expected = detail::digest(std::as_bytes(std::span(x)));
    });
    CHECK(processes(3, {.loss = 0.1}, [&](udp& socket, int node) {
              switch_machine<float> machine({.d = d, .workers = 3, .slot_count = 8, .switches = 3, .apart = false},
                                            node);
              auto x = fractions(node);
              machine.begin(std::span<float>(x), 1);
              socket.run(machine);
              machine.finish();
              return detail::digest(std::as_bytes(std::span(x)));
          }) == std::vector(3, expected));
}

TEST_CASE("a process that is killed, or never comes, is named by all others before the deadline") {
    udp::settings const how{.deadline = milliseconds(300), .loss = 0.02};
    std::vector<std::vector<float>> brought(4);  // before anybody waits for it
    for (int node = 0; node < 3; ++node) brought[std::size_t(node)] = whole_numbers(200000, node, 1);
    auto const check_victim = [&](int victim, int packets, auto make) {
        auto const begin = std::chrono::steady_clock::now();
        auto const results = processes(4, how, [&](udp& socket, int node) {
            auto machine = make(node);
            auto x = brought[std::size_t(node)];
            if (node == victim && packets < 0) return std::string("never came");
            machine.begin(std::span<float>(x), 1);
            mortal<decltype(machine)> m{&machine, node == victim ? packets : -1};
            try {
                socket.run(m);
            } catch (comm_error const& e) {
                return "without " + std::to_string(e.rank);
            }
            return std::string("done");
        });
        // The deadline, and what sent the last packet again; the machine may be busy.
        CHECK(std::chrono::steady_clock::now() - begin < milliseconds(10000));
        for (int node = 0; node < 4; ++node)
            CHECK(results[std::size_t(node)] == (node != victim ? "without " + std::to_string(victim)
                                                 : packets < 0  ? "never came"
                                                                : "killed"));
    };
    for (int const victim : {1, 3})
        for (int const packets : {-1, 40}) {
            CAPTURE(victim);
            CAPTURE(packets);
            check_victim(victim, packets, [](int node) {
                return switch_machine<float>({.d = 200000, .workers = 3, .slot_count = 4}, node);
            });
            check_victim(victim, packets,
                         [](int node) { return omni_machine<float>({.d = 200000, .workers = 3, .block = 64}, node); });
        }
}

TEST_CASE("what a rank brings is refused by all processes alike") {
    auto const results = processes(4, {.loss = 0.1}, [&](udp& socket, int node) {
        switch_machine<float> machine({.d = 1000, .workers = 3}, node);
        auto x = node < 3 ? whole_numbers(1000, node, 1) : std::vector<float>();
        if (node == 1) x[700] = NAN;
        machine.begin(std::span<float>(x), 1);
        socket.run(machine);
        machine.finish();
        return std::string("summed");
    });
    std::string const text = "rank 1, round 1: the gradient is not finite at coordinate 700";
    CHECK(results == std::vector<std::string>{text, text, text, "summed"});  // the switch itself brings nothing
}

TEST_CASE("neither strangers nor damage change a sum or stop it, however many packets they bring") {
    std::size_t const d = 10000;
    auto const check = [&](std::size_t round_at, auto make) {
        auto const results = processes(6, {}, [&](udp& socket, int node, std::vector<std::string> const& all) {
            if (node == 5) return as_a_stranger(all, make(1), d);
            if (node == 1) std::this_thread::sleep_for(milliseconds(30));  // the stranger may come before it
            auto machine = make(node);
            noisy<decltype(machine)> loud{&machine, round_at, key{3}.child(std::uint64_t(node))};
            auto const text = sums(socket, loud, node, 4, d, 6);
            return loud.useless > 200 ? text : "few useless packets came";
        });
        std::vector<std::string> expected(5, "right");
        expected.emplace_back("refused");
        CHECK(results == expected);
    };
    check(16, [&](int node) { return switch_machine<float>({.d = d, .workers = 4, .slot_count = 16}, node); });
    check(8, [&](int node) { return omni_machine<float>({.d = d, .workers = 4, .block = 64, .fused = 4}, node); });
}

TEST_CASE("over IPv6") {
    try {
        udp here("[::1]:0");
        CHECK(here.address().substr(0, 6) == "[::1]:");
    } catch (comm_error const& e) {
        MESSAGE("skipped: ", e.what());
        return;
    }
    omni_stream const stream{.d = 1000, .workers = 2};
    auto const body = [&](udp& socket, int node) {
        omni_machine<float> machine(stream, node);
        return sums(socket, machine, node, 2, 1000);
    };
    CHECK(processes(3, {}, body, "[::1]:0") == std::vector<std::string>(3, "right"));
}

TEST_CASE("packets of any lengths come once each, and what a machine leaves the next gets") {
    std::vector<std::size_t> lengths;
    for (std::size_t i = 0; i < 500; ++i)
        lengths.push_back(i % 100 < 60 ? 300 + i % 5 : 8 + std::size_t(key{5}.below(i, 1465)));
    auto const results = processes(2, {}, [&](udp& socket, int node) {
        of_lengths machine{&lengths, node};
        while (machine.next < lengths.size()) {
            machine.batch_end = std::min(machine.next + 70, lengths.size());
            socket.run(machine);
        }
        std::sort(machine.received.begin(), machine.received.end());
        for (std::size_t i = 0; i < machine.received.size(); ++i) machine.right &= machine.received[i] == i;
        return std::string(machine.right ? "right" : "wrong");
    });
    CHECK(results == std::vector<std::string>(2, "right"));
}

TEST_CASE("what a socket refuses") {
    for (auto const* address : {"", "localhost", ":80", "127.0.0.1:many", "127.0.0.1:"}) {
        CAPTURE(address);
        CHECK_THROWS_AS(udp{address}, argument_error);
    }
    CHECK_THROWS_WITH_AS(udp("127.0.0.1:0", {.deadline = milliseconds(0)}), "a deadline of no time", argument_error);
    CHECK_THROWS_WITH_AS(udp("127.0.0.1:0", {.loss = 1.5}), "a loss that is no share", argument_error);
    udp one("127.0.0.1:0", {.deadline = milliseconds(50)}), two("127.0.0.1:0");
    CHECK_THROWS_AS(udp{one.address()}, comm_error);  // is taken
    CHECK_THROWS_WITH_AS(one.set_peers(2, {one.address(), two.address()}), "node 2 of 2", argument_error);
    CHECK_THROWS_AS(one.set_peers(0, {one.address(), two.address(), two.address()}), argument_error);
    one.set_peers(0, {one.address(), two.address()});

    // Nobody answers; a packet is longer than a datagram may be; there is no such node.
    switch_machine<float> machine({.d = 4, .workers = 2, .switches = 2, .apart = false}, 0);
    std::vector<float> x(4);
    machine.begin(std::span<float>(x), 1);
    CHECK_THROWS_WITH_AS(one.run(machine), "node 1 sent nothing that is needed for 50 ms", comm_error);
    udp narrow("127.0.0.1:0", {.longest = 100});
    narrow.set_peers(0, {one.address(), two.address()});
    machine.begin(std::span<float>(x), 2);
    CHECK_THROWS_WITH_AS(narrow.run(machine), "a packet of 130 bytes: up to 100 can be", argument_error);
    switch_machine<float> elsewhere({.d = 4, .workers = 2}, 0);
    elsewhere.begin(std::span<float>(x), 1);
    CHECK_THROWS_WITH_AS(one.run(elsewhere), "a packet for node 2 of 2", argument_error);
}
