// SPDX-License-Identifier: Apache-2.0
// On any network of lost, repeated, damaged and forged packets, machines neither crash nor end with a wrong sum
// unless packets are forged, and all come to their end where no node stops.
#include <deque>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "fuzz/input.hpp"
#include "laconic/core/key.hpp"
#include "laconic/packet/omni_machine.hpp"
#include "laconic/packet/switch_machine.hpp"

namespace {

using namespace laconic;
using packet_bytes = std::vector<std::byte>;

// What the fuzz target must know of each protocol.
template <class T>
struct omni {
    using machine = omni_machine<T>;
    using layout = omni_stream;

    static layout choose(fuzz::input& in) {
        layout how{in.take<std::uint8_t>() % std::size_t{40}, 1 + in.take<std::uint8_t>() % 4};
        auto const shape = in.take<std::uint16_t>();
        how.co_located = shape % 2 == 1;
        how.aggregators = 1 + shape / 2 % (how.co_located ? how.workers : 3);
        how.block = 1 + shape / 8 % 5;
        how.fused = 1 + shape / 64 % 3;
        how.slot_count = 1 + shape / 256 % 4;
        return how;
    }
    static std::size_t longest(layout const& how) { return how.template longest_packet<T>(); }
    static bool tells_damage(layout const&) { return true; }
    static void seal(layout const&, packet_bytes& p) {
        if (p.size() >= 4) detail::store_half(p.data(), detail::packet_check(std::span(p).subspan(4)));
    }
    // A packet of this protocol and round, of any kind, for any slot.
    static packet_bytes forge(layout const& how, std::uint64_t round, fuzz::input& in) {
        omni_header h{how.digest<T>(), static_cast<std::uint32_t>(round)};
        h.kind = static_cast<omni_kind>(1 + in.take<std::uint8_t>() % 8);
        h.columns = in.take<std::uint8_t>();
        h.slot = in.take<std::uint8_t>();
        h.turn = in.take<std::uint8_t>();
        omni_packet_writer writer;
        writer.begin(h);
        for (std::size_t n = in.take<std::uint8_t>() % 16; n > 0; --n) writer.half(in.take<std::uint32_t>());
        auto const bytes = writer.finish();
        return {bytes.begin(), bytes.end()};
    }
};

template <class T>
struct switched {
    using machine = switch_machine<T>;
    using layout = switch_layout;

    static layout choose(fuzz::input& in) {
        layout how{.d = in.take<std::uint8_t>() % std::size_t{40}, .workers = 1 + in.take<std::uint8_t>() % 4};
        auto const shape = in.take<std::uint16_t>();
        how.apart = shape % 2 == 0;
        how.switches = 1 + shape / 2 % (how.apart ? 3 : how.workers);
        how.block = 1 + shape / 8 % 5;
        how.slot_count = 1 + shape / 64 % (2 * how.block);
        how.checksums = shape / 2048 % 4 != 0;
        return how;
    }
    static std::size_t longest(layout const& how) { return how.longest_packet(); }
    static bool tells_damage(layout const& how) { return how.checksums; }
    static void seal(layout const& how, packet_bytes& p) {
        std::uint64_t const sum = how.checksums && p.size() >= 8 ? wire::checksum(std::span(p).subspan(8)) : 0;
        if (p.size() >= 8) detail::store_word(p.data(), detail::switch_header::magic | sum << 32);
    }
    static packet_bytes forge(layout const& how, std::uint64_t round, fuzz::input& in) {
        detail::switch_header h{.digest = detail::digest_of(detail::values_of<T>(how, round)), .round = round};
        h.what = static_cast<detail::switch_kind>(1 + in.take<std::uint8_t>() % 8);
        h.block = in.take<std::uint8_t>();
        h.exponent = in.take<std::int16_t>();
        packet_bytes p(detail::switch_header::bytes);
        for (std::size_t n = in.take<std::uint8_t>() % 64; n > 0; --n) p.push_back(in.take<std::byte>());
        h.seal(p, how.checksums);
        return p;
    }
};

constexpr std::uint64_t first_round = 3;
constexpr std::size_t rounds = 3, most_under_way = 300;
constexpr retransmission when{.first = 1, .least = 1, .most = 4, .farewells = 3};

template <class Protocol, class T>
class play {
  public:
    explicit play(fuzz::input in)
        : in_(in), how_(Protocol::choose(in_)), seed_{in_.take<std::uint16_t>()}, nodes_(std::size_t(how_.nodes())) {
        auto const mode = in_.take<std::uint8_t>();
        may_forge_ = mode % 4 == 0;
        may_stop_ = mode / 4 % 4 != 0;
        may_bring_another_ = mode / 4 % 4 == 1;
        for (auto& n : nodes_) n.machine = made(n);
        for (auto& n : nodes_) begin(n);
        if (mode / 16 % 4 != 0)
            for (auto& n : nodes_) start(n);
    }

    void run() {
        while (!in_.empty()) act(in_.take<std::uint8_t>());
        settle();
    }

  private:
    struct node {
        std::unique_ptr<typename Protocol::machine> machine{};
        std::vector<T> x{};
        std::uint64_t round = first_round;
        bool started = false, has_error = false;
    };
    struct packet {
        int from, to;
        packet_bytes bytes;
    };

    int number(node const& n) const { return int(&n - nodes_.data()); }
    auto made(node const& n) const { return std::make_unique<typename Protocol::machine>(how_, number(n), when); }
    bool is_worker(int n) const { return n < how_.workers; }

    // Small whole numbers, many of them zero, whose sums are exact.
    std::vector<T> numbers_of(int worker, std::uint64_t round) const {
        std::vector<T> x(how_.d);
        auto const k = seed_.child(round).child(std::uint64_t(worker));
        for (std::size_t i = 0; i < x.size(); ++i)
            if (seed_.child(round).below(i / 4, 3) > 0 && k.below(i, 3) > 0)
                x[i] = T(int(k.below(1000 + i, 2001)) - 1000);
        return x;
    }
    std::vector<T> sum(std::uint64_t round) const {
        std::vector<T> all(how_.d);
        for (int w = 0; w < how_.workers; ++w) {
            auto const x = numbers_of(w, round);
            for (std::size_t i = 0; i < all.size(); ++i) all[i] += x[i];
        }
        return all;
    }

    void begin(node& n) {
        n.x = is_worker(number(n)) ? numbers_of(number(n), n.round) : std::vector<T>();
        n.started = n.has_error = false;
        n.machine->begin(std::span<T>(n.x), n.round);
    }
    // A process that died is there again.
    void restart(node& n, int with) {
        stopped_ = true;
        n.machine = made(n);
        begin(n);
        if (!is_worker(number(n)) || with % 4 == 0 || (with % 4 == 3 && !may_bring_another_)) return;
        n.has_error = with % 4 != 3;
        if (with % 4 == 1)
            n.x.push_back(1);
        else if (how_.d == 0)
            n.has_error = false;
        else if (with % 4 == 2)
            n.x[std::size_t(with) / 4 % how_.d] = std::numeric_limits<T>::quiet_NaN();
        else {
            another_vector_ = true;
            for (auto& v : n.x) v *= 3;
        }
        n.machine->begin(std::span<T>(n.x), n.round);
    }

    auto sink(node& n) {
        return [this, me = number(n), &n](int to, std::span<std::byte const> bytes) {
            if (!n.started) fuzz::found("a packet from a machine that has not started");
            if (to < 0 || to >= how_.nodes()) fuzz::found("a packet for a node that there is not");
            if (bytes.empty() || bytes.size() > Protocol::longest(how_)) fuzz::found("a packet that is too long");
            ++sent_;
            if (under_way_.size() < most_under_way || !forged_)
                under_way_.push_back({me, to, {bytes.begin(), bytes.end()}});
        };
    }
    bool deliver(packet const& p) {
        auto& n = nodes_[std::size_t(p.to)];
        return n.machine->take(now_, p.from, p.bytes, sink(n));
    }
    void wake(node& n) {
        now_ = std::max(now_, n.machine->wakes_at());
        n.machine->wake(now_, sink(n));
    }
    void start(node& n) {
        if (std::exchange(n.started, true)) return;
        n.machine->start(now_, sink(n));
    }
    // Who is silent for longer may be taken for gone.
    bool in_time() const { return now_ < 16 * when.most; }
    // Looks at what a node that is done has, and lets it go on.
    bool go_on(node& n) {
        if (!n.started || !n.machine->done() || n.round + 1 == first_round + rounds) return false;
        check(n);
        ++n.round;
        begin(n);
        return true;
    }
    void check(node& n) {
        bool good = true;
        std::string why;
        try {
            n.machine->finish();
        } catch (laconic::error const& e) {
            good = false;
            why = e.what();
        }
        if (forged_) return;
        if (!good && !stopped_ && in_time())
            fuzz::found("node " + std::to_string(number(n)) + " reports an error where all is well: " + why);
        if (!good || !is_worker(number(n))) return;
        if (n.has_error) fuzz::found("a sum with a vector that is not for this round");
        if (!another_vector_ && n.x != sum(n.round)) fuzz::found("a wrong sum");
    }

    // One thing that happens on the network.
    void act(unsigned what) {
        bool const forges = what % 16 >= 4 && what % 16 <= 7;
        if ((forges && !may_forge_) || (what % 16 == 3 && !may_stop_)) what |= 15;  // nothing but a delivery
        auto& n = nodes_[what / 16 % nodes_.size()];
        bool const some = !under_way_.empty();
        auto const which = std::next(under_way_.begin(), some ? std::ptrdiff_t(what / 16 % under_way_.size()) : 0);
        switch (what % 16) {
            case 0:
                return start(n);
            case 1:
                go_on(n);
                return;
            case 2:
                if (n.started && n.machine->wakes_at() < never) wake(n);
                return;
            case 3:
                return restart(n, in_.take<std::uint8_t>());
            case 4: {
                packet p = forged_packet();
                p.bytes = Protocol::forge(how_, n.round + in_.take<std::uint8_t>() % 4 - 1, in_);
                deliver(p);
                return;
            }
            case 5: {
                packet p = forged_packet();
                p.bytes.resize(in_.take<std::uint8_t>());
                for (auto& b : p.bytes) b = in_.take<std::byte>();
                deliver(p);
                return;
            }
            default:
                break;
        }
        if (!some) return;
        packet p = *which;
        switch (what % 16) {
            case 6:
            case 7: {  // changed, with a checksum that fits
                forged_ = true;
                if (what % 16 == 7) p = {int(in_.take<std::uint8_t>()) - 1, p.to, std::move(p.bytes)};
                for (int edits = in_.take<std::uint8_t>() % 4; edits >= 0; --edits)
                    p.bytes[in_.take<std::uint8_t>() % p.bytes.size()] = in_.take<std::byte>();
                if (auto const length = in_.take<std::uint8_t>(); length % 4 == 3) p.bytes.resize(length);
                Protocol::seal(how_, p.bytes);
                deliver(p);
                return;
            }
            case 8:
                return damage(p);
            case 9:
                deliver(p);
                return;  // and once more later
            case 10:
                under_way_.erase(which);
                return;
            default:
                under_way_.erase(which);
                deliver(p);
        }
    }
    packet forged_packet() {
        forged_ = true;
        return {int(in_.take<std::uint8_t>()) % (how_.nodes() + 2) - 1, in_.take<std::uint8_t>() % how_.nodes(), {}};
    }
    void damage(packet& p) {
        auto const at = in_.take<std::uint16_t>() % (8 * p.bytes.size());
        if (in_.take<std::uint8_t>() % 4 == 0)
            p.bytes.resize(at / 8);
        else
            p.bytes[at / 8] ^= std::byte(1u << at % 8);
        if (!Protocol::tells_damage(how_)) forged_ = true;
        auto const before = sent_;
        bool const nearer = deliver(p);
        if (!forged_ && (nearer || sent_ != before)) fuzz::found("damage that changes something");
    }

    // From here on nothing is lost, and everybody goes on as far as there is something to do.
    void settle() {
        bool const all_end = in_time() && !forged_ && !stopped_;
        for (std::size_t steps = all_end ? 50000 : 600; steps > 0; --steps) {
            if (!under_way_.empty()) {
                packet const p = std::move(under_way_.front());
                under_way_.pop_front();
                deliver(p);
                continue;
            }
            bool moved = false, all = true;
            node* first = nullptr;
            for (auto& n : nodes_) {
                moved = moved || !n.started;
                start(n);
                moved = go_on(n) || moved;
                all = all && n.machine->done();
                if (!n.machine->done() && (!first || n.machine->wakes_at() < first->machine->wakes_at())) first = &n;
            }
            if (moved) continue;
            if (all) {
                for (auto& n : nodes_) check(n);
                return;
            }
            if (first->machine->wakes_at() == never) break;
            wake(*first);
        }
        if (all_end) fuzz::found("nodes that wait for ever");
    }

    fuzz::input in_;
    typename Protocol::layout how_;
    key seed_;
    std::vector<node> nodes_;
    std::deque<packet> under_way_{};
    double now_ = 0;
    std::uint64_t sent_ = 0;
    // What may happen at all: where much does, little can be promised.
    bool may_forge_ = false, may_stop_ = false, may_bring_another_ = false;
    bool forged_ = false;          // a packet was, so that sums may be anything
    bool stopped_ = false;         // a node did, so that others may wait for ever
    bool another_vector_ = false;  // in the same round, so that nobody knows what the sum is
};

}  // namespace

int fuzz_packets(std::uint8_t const* data, std::size_t size) {
    fuzz::input in(data, size);
    switch (in.take<std::uint8_t>() % 4) {
        case 0:
            play<omni<float>, float>(in).run();
            break;
        case 1:
            play<omni<double>, double>(in).run();
            break;
        case 2:
            play<switched<float>, float>(in).run();
            break;
        default:
            play<switched<double>, double>(in).run();
    }
    return 0;
}
