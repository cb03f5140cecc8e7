// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "laconic/comm/packet_machine.hpp"
#include "laconic/core/key.hpp"

/// What happens to packets, as shares of all.
struct packet_faults {
    double lost = 0;
    double twice = 0;    ///< come again, a little later
    double late = 0;     ///< come after up to five times the usual time: others overtake them
    double damaged = 0;  ///< a bit is turned, or the end is missing
};

/// A network in virtual time that loses, repeats, delays and damages packets, as a key says, between packet machines of
/// any kind. A packet takes one to two milliseconds.
class lossy_network {
  public:
    explicit lossy_network(laconic::key from, packet_faults what = {}) : key_(from), what_(what) {}

    /// Hands over a packet of `from`.
    struct port {
        lossy_network* network;
        int from;
        void operator()(int to, std::span<std::byte const> packet) const { network->send(from, to, packet); }
    };

    /// The next node, counted from 0. The machine must live as long as the network.
    template <laconic::PacketMachine M>
    void add(M& machine) {
        nodes_.push_back(std::make_unique<node<M>>(machine));
        silent_from_.push_back(laconic::never);
    }
    /// From then on nothing comes from that node any more, nor to it.
    void silence(int which, double from) { silent_from_[std::size_t(which)] = from; }
    /// Sees each packet that is handed over: see(from, to, bytes).
    void watch(std::function<void(int, int, std::span<std::byte const>)> see) { see_ = std::move(see); }

    /// Starts all nodes and goes on until they are done, or, where a deadline in seconds is given, until one of them
    /// that is not silent was brought no nearer to its end for so long. Whether all are done that are not silent.
    bool run(double deadline = 1000) {
        auto const n = nodes_.size();
        std::vector<double> last_received(n, now_);
        late_ = -1;
        for (std::size_t r = 0; r < n; ++r)
            if (!silent(int(r))) nodes_[r]->start(now_, {this, int(r)});
        for (;;) {
            bool all = true;
            double wake = laconic::never;
            std::size_t first = 0, longest = n;
            for (std::size_t r = 0; r < n; ++r) {
                if (silent(int(r)) || nodes_[r]->done()) continue;
                all = false;
                if (longest == n || last_received[r] < last_received[longest]) longest = r;
                if (double const at = nodes_[r]->wakes_at(); at < wake) {
                    wake = at;
                    first = r;
                }
            }
            if (all) return true;
            double const next = std::min(wake, queue_.empty() ? laconic::never : queue_.top().at);
            if (next > last_received[longest] + deadline) {
                now_ = last_received[longest] + deadline;
                late_ = int(longest);
                return false;
            }
            now_ = std::max(now_, next);
            if (!queue_.empty() && queue_.top().at <= now_) {
                deliver(last_received);
            } else {
                nodes_[first]->wake(now_, {this, int(first)});
            }
        }
    }
    /// Forgets what is under way.
    void clear() {
        while (!queue_.empty()) {
            spare_.push_back(queue_.top().packet);
            queue_.pop();
        }
    }

    double now() const { return now_; }
    std::uint64_t packets() const { return packets_; }
    /// Who was late where run() gave up.
    int late() const { return late_; }
    int late_waits_for() const { return nodes_[std::size_t(late_)]->waits_for(); }

  private:
    struct any_node {
        virtual ~any_node() = default;
        virtual void start(double now, port out) = 0;
        virtual bool take(double now, int from, std::span<std::byte const> packet, port out) = 0;
        virtual void wake(double now, port out) = 0;
        virtual double wakes_at() const = 0;
        virtual bool done() const = 0;
        virtual int waits_for() const = 0;
    };
    template <class M>
    struct node final : any_node {
        explicit node(M& m) : machine(&m) {}
        void start(double now, port out) override { machine->start(now, out); }
        bool take(double now, int from, std::span<std::byte const> packet, port out) override {
            return machine->take(now, from, packet, out);
        }
        void wake(double now, port out) override { machine->wake(now, out); }
        double wakes_at() const override { return machine->wakes_at(); }
        bool done() const override { return machine->done(); }
        int waits_for() const override { return machine->waits_for(); }
        M* machine;
    };
    struct under_way {
        double at;
        std::uint64_t number;  // of two at the same time the older one comes first
        int from, to;
        std::size_t packet;
        bool operator<(under_way const& other) const {
            return at > other.at || (at == other.at && number > other.number);
        }
    };

    bool silent(int r) const { return now_ >= silent_from_[std::size_t(r)]; }
    double draw() { return key_.uniform(drawn_++); }
    void send(int from, int to, std::span<std::byte const> packet) {
        ++packets_;
        if (see_) see_(from, to, packet);
        if (silent(from) || to < 0 || to >= int(nodes_.size())) return;
        bool again = draw() < what_.twice;
        do {
            double const delay = 0.001 * (1 + draw()) * (draw() < what_.late ? 1 + 5 * draw() : 1);
            if (draw() < what_.lost) continue;
            auto const at = room();
            auto& copy = store_[at];
            copy.assign(packet.begin(), packet.end());
            if (draw() < what_.damaged && !copy.empty()) {
                auto const bit = key_.below(drawn_++, 8 * copy.size());
                if (draw() < 0.3)
                    copy.resize(bit / 8);
                else
                    copy[bit / 8] ^= std::byte(1u << bit % 8);
            }
            queue_.push({now_ + delay, number_++, from, to, at});
        } while (std::exchange(again, false));
    }
    std::size_t room() {
        if (spare_.empty()) {
            store_.emplace_back();
            return store_.size() - 1;
        }
        auto const at = spare_.back();
        spare_.pop_back();
        return at;
    }
    void deliver(std::vector<double>& last_received) {
        auto const next = queue_.top();
        queue_.pop();
        auto& machine = nodes_[std::size_t(next.to)];
        if (!silent(next.to) && !machine->done()) {  // who is done has left
            std::swap(store_[next.packet], taken_);  // the store may move meanwhile
            if (machine->take(now_, next.from, taken_, {this, next.to})) last_received[std::size_t(next.to)] = now_;
            std::swap(store_[next.packet], taken_);
        }
        spare_.push_back(next.packet);
    }

    laconic::key key_;
    packet_faults what_;
    std::vector<std::unique_ptr<any_node>> nodes_;
    std::vector<double> silent_from_;
    std::function<void(int, int, std::span<std::byte const>)> see_;
    std::priority_queue<under_way> queue_;
    std::vector<std::vector<std::byte>> store_;
    std::vector<std::size_t> spare_;
    std::vector<std::byte> taken_;
    double now_ = 0;
    std::uint64_t drawn_ = 0, number_ = 0, packets_ = 0;
    int late_ = -1;
};
