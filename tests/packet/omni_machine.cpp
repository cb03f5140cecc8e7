// SPDX-License-Identifier: Apache-2.0
// `omni_machine` sums exactly over lossy networks, sends each block once without loss, and shares all errors.
#include "laconic/packet/omni_machine.hpp"

#include "support/block_vectors.hpp"
#include "support/everything.hpp"
#include "support/lossy_network.hpp"

static_assert(PacketMachine<omni_machine<float>> && PacketMachine<omni_machine<double>>);

template <class T>
using vectors = block_vectors::vectors<T>;

template <class T>
using machines = std::vector<std::unique_ptr<omni_machine<T>>>;

template <class T>
machines<T> all_nodes(omni_stream const& how, retransmission when = {}) {
    machines<T> all;
    for (int r = 0; r < how.nodes(); ++r) all.push_back(std::make_unique<omni_machine<T>>(how, r, when));
    return all;
}
template <class T>
void join(lossy_network& network, machines<T>& all) {
    for (auto& m : all) network.add(*m);
}
template <class T>
void begin(machines<T>& all, vectors<T>& x, std::uint64_t round) {
    for (std::size_t r = 0; r < all.size(); ++r) r < x.size() ? all[r]->begin(x[r], round) : all[r]->begin(round);
}
template <class T>
void check_sums(vectors<T> const& x, std::vector<T> const& sum) {
    for (auto const& v : x) CHECK((sum.empty() || std::memcmp(v.data(), sum.data(), sum.size() * sizeof(T)) == 0));
}

// The sum of one round, bit for bit that in the order of ranks. The packets that were sent.
template <class T>
std::uint64_t sums(omni_stream const& how, double share, packet_faults what, std::uint64_t seed) {
    auto x = block_vectors::fractions<T>(how.d, how.block, how.workers, share, seed);
    auto const sum = block_vectors::sum_in_order(x);
    auto nodes = all_nodes<T>(how);
    lossy_network network(key{seed}, what);
    join(network, nodes);
    begin(nodes, x, seed);
    CHECK(network.run());
    for (auto& n : nodes) n->finish();
    check_sums(x, sum);
    return network.packets();
}

TEST_CASE("the sums of vectors over a network that loses nothing") {
    for (int const p : {1, 2, 5, 16})
        for (int const a : {1, 2, 4})
            for (bool const co_located : {false, true}) {
                if (co_located && a > p) continue;
                for (double const share : {0.0, 0.1, 1.0}) {
                    sums<float>({200, p, a, co_located, 4, 2, 3}, share, {}, 1);
                    sums<double>({201, p, a, co_located, 5, 1, 2}, share, {}, 2);
                }
            }
}

TEST_CASE("the sums of vectors over networks that lose, repeat, delay and damage packets") {
    std::uint64_t packets = 0, seed = 10;
    for (double const share : {0.02, 0.2})
        for (int const p : {1, 2, 5, 8})
            for (int const a : {1, 2, 3})
                for (bool const co_located : {false, true}) {
                    if (co_located && a > p) continue;
                    auto const fused = 1 + seed % 4, slots = 1 + seed % 7;
                    packets +=
                        sums<float>({450, p, a, co_located, 3, fused, slots}, 0.3, {share, share, share, share}, seed);
                    packets += sums<double>({201, p, a, co_located, 2, 5 - fused, slots}, 0.1,
                                            {share, share / 2, 2 * share, share / 5}, seed + 1);
                    seed += 2;
                }
    CHECK(packets > 50000);
}

TEST_CASE("vectors of nothing, of one block, and of a few numbers more than blocks") {
    for (packet_faults const what : {packet_faults{}, packet_faults{0.2, 0.2, 0.2, 0.2}})
        for (std::size_t const d : {0, 1, 3, 4, 5, 9})
            for (std::size_t const block : {1, 4, 1000})
                for (double const share : {0.0, 0.5, 1.0}) {
                    sums<float>({d, 3, 2, false, block, 3, 4}, share, what, d + 1);
                    sums<double>({d, 3, 3, true, block, 1, 1}, share, what, d + 1);
                }
}

// Without losses each worker sends each block of its own once and receives each that anybody has once, in as many turns
// of a slot as its busiest column has such blocks; beside these it opens the slots and leaves.
TEST_CASE("each block is sent once, and there are as many packets as turns") {
    for (int const p : {1, 5})
        for (std::size_t const fused : {1, 3})
            for (double const share : {0.0, 0.1, 1.0}) {
                omni_stream const how{1000, p, 2, false, 4, fused, 5};
                auto x = block_vectors::fractions<float>(how.d, how.block, p, share);
                auto const workers = std::size_t(p), blocks = how.blocks().count();
                auto const deal = how.columns();
                std::vector<std::uint64_t> own(workers), in_column(deal.parts), sent(workers), received(workers);
                std::uint64_t together = 0, turns = 0, packets = 0;
                for (std::size_t b = 0; b < blocks; ++b) {
                    bool any = false;
                    for (std::size_t r = 0; r < workers; ++r) {
                        bool const has = block_vectors::has_block(x[r], how.block, b);
                        own[r] += has;
                        any = any || has;
                    }
                    together += any;
                    in_column[deal.part_of(b)] += any;
                }
                for (std::size_t s = 0; s < how.all_slots(); ++s)
                    turns += *std::max_element(in_column.begin() + std::ptrdiff_t(s * fused),
                                               in_column.begin() + std::ptrdiff_t((s + 1) * fused));

                auto nodes = all_nodes<float>(how, {1, 1, 1, 1});
                lossy_network network(key{5});
                join(network, nodes);
                begin(nodes, x, 1);
                network.watch([&](int from, int to, std::span<std::byte const> packet) {
                    omni_header h;
                    CHECK(read_header(packet, h));
                    CHECK(packet.size() <= how.longest_packet<float>());
                    auto const n = std::uint64_t(std::popcount(h.columns));
                    if (h.kind == omni_kind::blocks) sent[std::size_t(from)] += n;
                    if (h.kind == omni_kind::sums) received[std::size_t(to)] += n;
                    ++packets;
                });
                CHECK(network.run());
                CHECK(sent == own);
                CHECK(received == std::vector(workers, together));
                CHECK(packets == 2 * workers * (turns + 2 * (how.groups_each() + 1)));
            }
}

TEST_CASE("a number that is not finite is an error on all workers, and changes nothing") {
    for (packet_faults const what : {packet_faults{}, packet_faults{0.2, 0.2, 0.2, 0.2}})
        for (bool const co_located : {false, true})
            for (std::size_t const slots : {1, 30}) {
                omni_stream const how{100, 5, 2, co_located, 2, 1, slots};
                auto nodes = all_nodes<float>(how);
                lossy_network network(key{slots}, what);
                join(network, nodes);
                auto const good = block_vectors::fractions<float>(how.d, how.block, how.workers, 0.3);
                auto const sum = block_vectors::sum_in_order(good);
                for (std::uint64_t round = 0; round < 4; ++round) {
                    auto x = good;
                    if (round % 2 == 0) {
                        x[3][7] = NAN;
                        x[1][99] = INFINITY;
                        x[1][60] = round == 0 ? -INFINITY : NAN;
                    }
                    auto const before = x;
                    begin(nodes, x, round);
                    CHECK(network.run());
                    if (round % 2 == 1) {
                        for (auto& n : nodes) n->finish();
                        check_sums(x, sum);
                        continue;
                    }
                    for (int r = 0; r < how.workers; ++r) {
                        auto const at = std::size_t(r);
                        CHECK_THROWS_WITH_AS(
                            nodes[at]->finish(),
                            ("rank 1, round " + std::to_string(round) + ": the gradient is not finite at coordinate 60")
                                .c_str(),
                            non_finite_error);
                        CHECK(std::memcmp(x[at].data(), before[at].data(), how.d * sizeof(float)) == 0);
                    }
                }
            }
}

TEST_CASE("a vector of another dimension is an error on all workers, and changes nothing") {
    omni_stream const how{30, 4, 2, false, 4};
    auto nodes = all_nodes<double>(how);
    lossy_network network(key{1}, {0.2, 0.2, 0.2, 0.2});
    join(network, nodes);
    for (std::size_t const length : {0, 29, 31}) {
        vectors<double> x(4, std::vector<double>(30, 1));
        x[2].assign(length, 1);
        x[3][5] = NAN;
        auto const before = x[1];
        begin(nodes, x, length);
        CHECK(network.run());
        for (std::size_t r = 0; r < 4; ++r)
            CHECK_THROWS_WITH_AS(
                nodes[r]->finish(),
                ("rank 2 has a vector of " + std::to_string(length) + " numbers, the collective is for 30").c_str(),
                shape_error);
        CHECK(x[1] == before);
    }
}

TEST_CASE("a sum that overflows is an error on all workers") {
    omni_stream const how{30, 3, 2, false, 4};
    vectors<float> x(3, std::vector<float>(30));
    x[0][9] = x[2][9] = x[0][28] = x[1][28] = 3e38f;
    auto nodes = all_nodes<float>(how);
    lossy_network network(key{1});
    join(network, nodes);
    begin(nodes, x, 6);
    CHECK(network.run());
    for (std::size_t r = 0; r < 3; ++r)
        CHECK_THROWS_WITH_AS(nodes[r]->finish(), "round 6: the ranks' sum is not finite at coordinate 9", error);
}

// A node that goes on to the next round as soon as it is done, while others may still be in the one before.
struct rounds {
    omni_machine<float> machine;
    std::vector<vectors<float>> const* brought;  // of rounds
    int node;
    std::uint64_t round = 0;
    std::vector<float> x{};
    bool wrong = false;

    rounds(omni_stream const& how, int r, std::vector<vectors<float>> const& all)
        : machine(how, r), brought(&all), node(r) {}

    template <class Out>
    void start(double now, Out out) {
        bool const worker = std::size_t(node) < (*brought)[0].size();
        x = worker ? (*brought)[round][std::size_t(node)] : std::vector<float>();
        machine.begin(x, round);
        machine.start(now, out);
    }
    template <class Out>
    bool take(double now, int from, std::span<std::byte const> packet, Out out) {
        bool const nearer = machine.take(now, from, packet, out);
        go_on(now, out);
        return nearer;
    }
    template <class Out>
    void wake(double now, Out out) {
        machine.wake(now, out);
        go_on(now, out);
    }
    template <class Out>
    void go_on(double now, Out out) {
        if (!machine.done() || done()) return;
        wrong = wrong || (!x.empty() && x != block_vectors::sum_in_order((*brought)[round]));
        if (++round < brought->size()) start(now, out);
    }
    double wakes_at() const { return machine.wakes_at(); }
    bool done() const { return round == brought->size(); }
    int waits_for() const { return machine.waits_for(); }
};

TEST_CASE("rounds one after another, each node when it is done") {
    for (double const share : {0.0, 0.05, 0.2})
        for (bool const co_located : {false, true}) {
            omni_stream const how{120, 4, 2, co_located, 4, 2, 3};
            std::vector<vectors<float>> all;
            for (std::uint64_t round = 0; round < 12; ++round)
                all.push_back(block_vectors::fractions<float>(how.d, how.block, how.workers, 0.2, round));
            std::vector<std::unique_ptr<rounds>> nodes;
            lossy_network network(key{3}, {share, share, share, share});
            for (int r = 0; r < how.nodes(); ++r) {
                nodes.push_back(std::make_unique<rounds>(how, r, all));
                network.add(*nodes.back());
            }
            CHECK(network.run());
            for (auto& n : nodes) CHECK(!n->wrong);
        }
}

TEST_CASE("who is silent is named by all that lack him, in bounded time") {
    for (bool const co_located : {false, true})
        for (double const from : {0.0, 0.02})
            for (int const silent : {0, 2, 4, 5}) {
                omni_stream const how{900, 5, 2, co_located, 3, 1, 2};
                if (silent >= how.nodes()) continue;
                auto x = block_vectors::fractions<float>(how.d, how.block, how.workers, 0.9);
                auto nodes = all_nodes<float>(how);
                lossy_network network(key{9}, {0.05, 0.05, 0.05, 0.05});
                join(network, nodes);
                begin(nodes, x, 1);
                network.silence(silent, from);
                CHECK(!network.run(2));
                CHECK(network.now() < 60);
                CHECK(network.late_waits_for() == silent);
                for (int r = 0; r < how.nodes(); ++r)
                    if (auto const& n = *nodes[std::size_t(r)]; r != silent && !n.done()) {
                        CAPTURE(r);
                        CHECK(n.waits_for() == silent);
                    }
            }
}

// Node 2 of 4 workers runs another stream, or another type of numbers.
template <class T = float>
void all_refuse(omni_stream const& other, packet_faults what) {
    omni_stream const how{100, 4, 1, false, 4};
    vectors<float> x(4, std::vector<float>(100, 1.f));
    std::vector<T> odd(other.d, T(1));
    auto nodes = all_nodes<float>(how);
    omni_machine<T> differs(other, 2);
    lossy_network network(key{4}, what);
    begin(nodes, x, 3);
    differs.begin(odd, 3);
    for (std::size_t r = 0; r < 5; ++r) {
        if (r == 2)
            network.add(differs);
        else
            network.add(*nodes[r]);
    }
    CHECK(network.run(30));
    for (std::size_t r = 0; r < 5; ++r)
        if (r != 2) CHECK_THROWS_AS(nodes[r]->finish(), agreement_error);
    CHECK_THROWS_AS(differs.finish(), agreement_error);
}

TEST_CASE("nodes that run different streams all throw") {
    for (packet_faults const what : {packet_faults{}, packet_faults{0.2, 0.2, 0.2, 0.2}}) {
        all_refuse({101, 4, 1, false, 4}, what);
        all_refuse({100, 5, 1, false, 4}, what);
        all_refuse({100, 3, 1, false, 4}, what);
        all_refuse({100, 4, 2, false, 4}, what);
        all_refuse({100, 4, 1, true, 4}, what);
        all_refuse({100, 4, 1, false, 5}, what);
        all_refuse({100, 4, 1, false, 4, 2}, what);
        all_refuse({100, 4, 1, false, 4, 1, 7}, what);
        all_refuse<double>({100, 4, 1, false, 4}, what);
    }
}

// Packets whose check is right and whose contents are not: sums may be wrong, which no node can notice, but nothing
// breaks.
TEST_CASE("what a forger sends does no harm beyond the sum") {
    std::uint64_t all = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        omni_stream const how{200, 3, 2, seed % 2 == 0, 4, 3, 4};
        auto x = block_vectors::fractions<float>(how.d, how.block, how.workers, 0.3);
        auto nodes = all_nodes<float>(how);
        lossy_network network(key{seed});
        join(network, nodes);
        std::uint64_t n = 0;
        network.watch([&](int from, int to, std::span<std::byte const> packet) {
            if (n % 3 == 0 && to != from) {
                std::vector<std::byte> forged(packet.begin(), packet.end());
                auto const at = 4 + key{seed}.below(n, forged.size() - 4);
                forged[at] = std::byte(key{seed}.below(n + 1, 256));
                if (n % 2 == 0) forged.resize(std::max<std::size_t>(at, omni_header_bytes));
                detail::store_half(forged.data(), detail::packet_check(std::span(forged).subspan(4)));
                nodes[std::size_t(to)]->take(network.now(), from, forged, [](int, std::span<std::byte const>) {});
            }
            ++n;
        });
        begin(nodes, x, 1);
        network.run(5);
        all += n;
    }
    CHECK(all > 1000);
}

TEST_CASE("what is dropped: before the start, from nobody, too short") {
    omni_stream const how{10, 1, 1, false, 4};
    omni_machine<float> worker(how, 0), aggregator(how, 1);
    std::vector<float> x(10, 1.f);
    std::vector<std::byte> opening;
    int replies = 0;
    auto const count = [&](int, std::span<std::byte const>) { ++replies; };
    worker.begin(x, 1);
    worker.start(0, [&](int, std::span<std::byte const> p) { opening.assign(p.begin(), p.end()); });
    aggregator.begin(1);
    CHECK(!aggregator.take(0, 0, opening, count));
    aggregator.start(0, count);
    CHECK(!aggregator.take(0, -1, opening, count));
    CHECK(!aggregator.take(0, 1, opening, count));
    CHECK(!aggregator.take(0, 2, opening, count));
    CHECK(!aggregator.take(0, 0, std::span(opening).first(opening.size() - 1), count));
    CHECK(!aggregator.take(0, 0, {}, count));
    CHECK(replies == 0);
    CHECK(aggregator.take(0, 0, opening, count));
    CHECK(replies == 1);
    CHECK(!aggregator.take(0, 0, opening, count));  // again: the reply is sent again
    CHECK(replies == 2);
}

TEST_CASE("machines that cannot be") {
    CHECK_THROWS_AS((omni_machine<float>({10, 2}, 3)), argument_error);
    CHECK_THROWS_AS((omni_machine<float>({10, 2}, -1)), argument_error);
    CHECK_THROWS_AS((omni_machine<float>({10, 0}, 0)), argument_error);
    CHECK_THROWS_AS((omni_machine<float>({10, 2}, 0, {1, 2, 3, 4})), argument_error);
}

// In steps: all packets that a rank has for another one go together, until all ranks are done.
TEST_CASE("over threads the machines come to the same bits as omni_reduce") {
    omni_stream const how{500, 5, 5, true, 4, 3, 2};
    auto const brought = block_vectors::fractions<double>(how.d, how.block, how.workers, 0.2);
    auto by_machines = brought, by_messages = brought;
    threads::run(how.workers, [&](auto& comm) {
        auto const me = std::size_t(comm.rank()), n = std::size_t(comm.size());
        omni_machine<double> machine(how, comm.rank());
        std::vector<wire::bit_writer> now(n), next(n);
        auto const out = [&](int to, std::span<std::byte const> packet) {
            auto& bundle = next[std::size_t(to)];
            bundle.put(packet.size(), 32);
            std::copy(packet.begin(), packet.end(), bundle.append(packet.size()).begin());
        };
        machine.begin(by_machines[me], 1);
        machine.start(0, out);
        for (bool all = false; !all;) {
            std::swap(now, next);
            for (auto& bundle : next) bundle.clear();
            std::byte const done{machine.done()};
            comm.all_gather({std::span(&done, 1)});
            all = true;
            for (int r = 0; r < comm.size(); ++r) all = all && comm.from(r).bytes[0] == std::byte{1};
            for (std::size_t i = 0; i < n; ++i) {  // to itself, too
                auto const to = (me + i) % n, from = (me + n - i) % n;
                wire::bit_reader received(comm.exchange(int(to), {now[to].finish()}, int(from)).bytes);
                while (received.left() > 0) machine.take(0, int(from), received.take_bytes(received.take(32)), out);
            }
        }
        machine.finish();
        host on;
        make_sum<double>(omni_reduce{how.block}, how.d)(on, comm, by_messages[me]);
    });
    check_sums(by_machines, block_vectors::sum_in_order(brought));
    CHECK(by_machines == by_messages);
}
