// SPDX-License-Identifier: Apache-2.0
//
// The sums that go by packets over UDP, OmniReduce and SwitchML, on hosts of `bench/cluster --plain`: as
// bench/collective has the others, the same numbers and the same columns. Every host is a worker, and adds up its part
// for all.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "data.hpp"
#include "laconic/comm/packet_machine.hpp"
#include "laconic/comm/udp.hpp"
#include "laconic/core/size.hpp"
#include "laconic/packet/omni_machine.hpp"
#include "laconic/packet/switch_machine.hpp"
#include "laconic/wire/byte_order.hpp"
#include "options.hpp"
#include "table.hpp"

namespace {

using namespace laconic;
using namespace laconic::bench;

struct udp_options : options {
    std::size_t slot_count = 32;
    double wait = 0.2, deadline = 30;
    int port = 47001;

    void parse(CLI::App& app) {
        options::parse(app);
        app.add_option("--slots", slot_count, "how many packets are under way from each host to each other one")
            ->capture_default_str();
        app.add_option("--wait", wait, "seconds after which a packet without an answer is sent again, at least")
            ->capture_default_str();
        app.add_option("--deadline", deadline, "the longest wait for another host, in seconds")->capture_default_str();
        app.add_option("--port", port, "of every host, and the next one")->capture_default_str();
    }
    void check() const {
        options::check();
        if (!(deadline >= 0.001 && deadline <= 1e6))
            throw argument_error(fmt::format("--deadline: {} is not from 0.001 to 1e6", deadline));
        again().check();
        if (port < 1 || port > 65534) throw argument_error(fmt::format("--port: {}", port));
    }
    // A host that has no core for some milliseconds has lost nothing.
    retransmission again() const { return {.first = wait, .least = wait, .most = 4 * wait}; }
    udp::settings socket() const {
        return {.deadline = std::chrono::milliseconds(static_cast<std::int64_t>(deadline * 1000))};
    }
};

/// Where bench/cluster says that this host is, and the others.
struct hosts {
    int rank = 0;
    std::vector<std::string> addresses{};

    int size() const { return static_cast<int>(addresses.size()); }
};
hosts find_hosts(int port) {
    char const *const rank = std::getenv("LACONIC_RANK"), *const all = std::getenv("LACONIC_HOSTS");
    if (!rank || !all)
        throw argument_error("LACONIC_RANK and LACONIC_HOSTS are not set: run this with bench/cluster --plain");
    hosts h{std::atoi(rank)};
    std::istringstream names(all);
    for (std::string name; std::getline(names, name, ',');) h.addresses.push_back(fmt::format("{}:{}", name, port));
    if (h.rank < 0 || h.rank >= h.size())
        throw argument_error(fmt::format("LACONIC_RANK is {}, and LACONIC_HOSTS has {}", rank, h.size()));
    return h;
}

/// A machine, and the bytes of the packets between it and other hosts.
template <class M>
struct counted {
    M* machine;
    int me;
    std::size_t sent = 0, received = 0;

    auto counting(auto& out) {
        return [this, &out](int to, std::span<std::byte const> packet) {
            if (to != me) sent += packet.size();
            out(to, packet);
        };
    }
    void start(double now, auto out) { machine->start(now, counting(out)); }
    bool take(double now, int from, std::span<std::byte const> packet, auto out) {
        if (from != me) received += packet.size();
        return machine->take(now, from, packet, counting(out));
    }
    void wake(double now, auto out) { machine->wake(now, counting(out)); }
    double wakes_at() const { return machine->wakes_at(); }
    bool done() const { return machine->done(); }
    int waits_for() const { return machine->waits_for(); }
};

class measurement {
  public:
    measurement(udp_options const& o, hosts const& where, hosts const& aside)
        : o_(o),
          me_(where.rank),
          ranks_(where.size()),
          socket_(where.addresses[static_cast<std::size_t>(me_)], o.socket()),
          aside_(aside.addresses[static_cast<std::size_t>(me_)], o.socket()),
          out_(me_),
          times_(static_cast<std::size_t>(ranks_)),
          sum_of_times_({.d = times_.size(), .workers = ranks_, .slot_count = 1, .apart = false}, me_, o.again()) {
        socket_.set_peers(me_, where.addresses);
        aside_.set_peers(me_, aside.addresses);
    }

    /// Whether all sums were right.
    bool run() {
        out_.say(setting(ranks_, o_.d(), o_.link));
        // As many numbers in a packet as fit: these blocks have nothing to do with those of zeros.
        std::size_t const block = (udp::settings{}.longest - detail::switch_header::bytes) / sizeof(float);
        switch_machine<float> switches({.d = o_.d(),
                                        .workers = ranks_,
                                        .block = block,
                                        .slot_count = std::min(o_.slot_count, 2 * block),
                                        .switches = ranks_,
                                        .apart = false},
                                       me_, o_.again());
        omni_machine<float> blocks({.d = o_.d(),
                                    .workers = ranks_,
                                    .aggregators = ranks_,
                                    .co_located = true,
                                    .block = o_.block,
                                    .slot_count = o_.slot_count},
                                   me_, o_.again());
        of_data("Dense vectors, over UDP", 0);
        measure("switch_machine", switches);
        measure("omni_machine", blocks);
        for (double const zeros : o_.zeros) {
            of_data(fmt::format("{:.4g} % of the blocks of {} are zero, over UDP", 100 * zeros, o_.block), zeros);
            measure("omni_machine", blocks);
        }
        if (!again_.empty()) out_.say("Bytes beyond those of the least round, on average:" + again_);
        return right_;
    }

  private:
    // Each rank knows what its part of the coordinates must sum up to.
    void of_data(std::string what, double zeros) {
        out_.head(std::move(what));
        x_ = numbers(me_, o_.d());
        clear_blocks(me_, zeros, o_.block, x_);
        detail::partition const parts{o_.d(), times_.size()};
        auto const part = static_cast<std::size_t>(me_);
        first_ = parts.first(part);
        wanted_.assign(parts.length(part), 0);
        for (int r = 0; r < ranks_; ++r) {
            vec theirs(wanted_.size());
            auto const from = key{1}.child(static_cast<std::uint64_t>(r));
            for (std::size_t i = 0; i < wanted_.size(); ++i)
                if (!is_zero_block(r, zeros, (first_ + i) / o_.block)) wanted_[i] += number(from, first_ + i);
        }
    }

    template <class M>
    void measure(std::string const& name, M& machine) {
        if (!o_.wants(name)) return;
        row r{name};
        vec sum = x_;
        std::vector<double> seconds;
        double least = 0, all = 0;  // bytes at the busiest port
        for (int round = 0; !o_.measured(seconds); ++round) {
            sum = x_;
            largest(0);  // nobody begins before all can
            auto const start = std::chrono::steady_clock::now();
            counted<M> m{&machine, me_};
            machine.begin(std::span<float>(sum), ++round_);
            socket_.run(m);
            machine.finish();
            double const mine = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
            double const slowest = largest(mine), bytes = largest(static_cast<double>(std::max(m.sent, m.received)));
            if (round == 0) r.right = is_right(sum);  // and gets its memory, which is not timed
            if (round == 0) continue;
            seconds.push_back(slowest);
            all += bytes;
            least = least == 0 ? bytes : std::min(least, bytes);
        }
        r.alone = r.all = times_of(seconds);
        r.megabytes = 1e-6 * least;
        if (o_.link > 0) r.on_link = 8 * least / o_.link;
        right_ = right_ && r.right;
        out_.add(r, 0, 0);
        again_ += fmt::format("{} {:.2g} %", again_.empty() ? "" : ",",
                              100 * (all / least / static_cast<double>(seconds.size()) - 1));
    }
    // This rank's part to the bit, and all have the same.
    bool is_right(vec const& sum) {
        bool const mine = std::equal(wanted_.begin(), wanted_.end(), sum.begin() + static_cast<std::ptrdiff_t>(first_));
        double const digest = wire::checksum(std::as_bytes(std::span(sum))) & 0xffffff;
        double const most = largest(digest);
        return largest(mine && digest == most ? 0 : 1) == 0;
    }

    // Sums over all ranks, which also wait for each other here: by SwitchML as well, each number among zeros, rounded
    // to 24 bits or more.
    double largest(double mine) {
        std::fill(times_.begin(), times_.end(), 0.0);
        times_[static_cast<std::size_t>(me_)] = mine;
        sum_of_times_.begin(std::span<double>(times_), ++round_);
        aside_.run(sum_of_times_);
        sum_of_times_.finish();
        return *std::max_element(times_.begin(), times_.end());
    }

    udp_options o_;
    int me_, ranks_;
    udp socket_, aside_;  // a rank that still waits must not take what others begin with for late packets, and drop it
    table out_;
    std::vector<double> times_;
    switch_machine<double> sum_of_times_;
    std::uint64_t round_ = 0;  // of all that goes through the sockets
    vec x_, wanted_;
    std::size_t first_ = 0;  // coordinate of wanted_
    bool right_ = true;
    std::string again_;  // of each row, what was sent again
};

}  // namespace

int main(int argc, char** argv) {
    udp_options o;
    CLI::App app("The sums by packets over UDP, on hosts of bench/cluster --plain.", "collective_udp");
    o.parse(app);
    CLI11_PARSE(app, argc, argv);
    hosts where;
    try {
        o.check();
        where = find_hosts(o.port);
        return measurement(o, where, find_hosts(o.port + 1)).run() ? 0 : 1;
    } catch (std::exception const& e) {
        fmt::print(stderr, "collective_udp: {}{}\n", where.size() == 0 ? "" : fmt::format("rank {}: ", where.rank),
                   e.what());
        return 2;
    }
}
