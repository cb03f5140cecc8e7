// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "laconic/collective/consensus.hpp"
#include "laconic/collective/session.hpp"
#include "laconic/loop_base.hpp"
#include "laconic/transport/transport.hpp"
#include "laconic/wire/message.hpp"

namespace laconic {

/// What one rank has sent to its neighbours, counted as on a radio: a payload that several neighbours receive is one
/// transmission, and its bits count once (`metered` counts the bytes for each receiver). A slot is a time in which all
/// ranks that may send do so at once: the same on all ranks.
struct traffic {
    std::uint64_t transmissions = 0, slot_count = 0, bits = 0;
    std::uint64_t refreshes = 0;     ///< new graphs
    std::uint64_t refresh_bits = 0;  ///< of `bits`, those of models that went to new neighbours
    bool operator==(traffic const&) const = default;
};

/// What loops have in common whose ranks exchange messages in pairs. A round is a transaction: a loop computes its next
/// state beside the present one, and moves to it once close_round() returns. `Loop` has round() and state(archive), and
/// where that is private loop_base<Loop, F, C, T> is its friend; require_consistent() and recover() are here. Its
/// constructor need not call agree().
template <class Loop, class F, PointToPoint C, Scalar T>
class session_loop : public loop_base<Loop, F, C, T> {
    using base = loop_base<Loop, F, C, T>;

  public:
    static constexpr bool own_iterates = true;

    /// What an observer sees before a round: x is this rank's model, value() f_n(x).
    observation<F, T> look() const { return {round_, x_, {}, &*objective_, std::nullopt}; }
    traffic const& sent() const { return sent_; }
    /// The mean of all f_n at the mean of all models. A collective call over `comm`, which should not be counted.
    double value_at_mean(Communicator auto& comm) const {
        return report_consensus(*objective_, this->x(), comm).value_at_mean;
    }

  protected:
    using base::comm_, base::objective_, base::on_, base::round_, base::x_;

    session_loop(std::string const& method, std::string const& among, F const& objective, C& comm, std::span<T> x,
                 std::uint64_t seed)
        : base(objective, comm, x, seed) {
        this->agree({{"the method", method}, {"the graph", among}});
        session_.template make_room<T>(x.size());
    }

    int me() const { return comm_->rank(); }
    void require_consistent() const { broken_.require_consistent(me(), round_); }
    void recover() { broken_.recover(); }

    void open_round() {
        require_consistent();
        broken_.round_is_under_way();
        session_.start(round_);
    }
    /// make(), unless something is wrong already; what it throws all ranks will throw.
    void attempt(auto make) {
        if (session_.failed()) return;
        try {
            make();
        } catch (std::exception const& e) {
            session_.give_up(me(), e.what());
        }
    }
    /// Sends what was encoded to these ranks, as one transmission. Where `bytes` is empty they receive an empty
    /// payload: silence, on a radio.
    void send(std::span<int const> to, std::span<std::byte const> bytes) {
        for (int const m : to) session_.send_bytes(*comm_, m, bytes);
        if (session_.failed() || to.empty() || bytes.empty()) return;
        ++sent_.transmissions;
        sent_.bits += 8 * bytes.size();
    }
    void receive(int from, auto read) { session_.receive(*comm_, from, read); }
    /// Encodes m = C(delta), once make_delta() has made delta. Nothing where something is wrong, or the message has no
    /// bits: then no rank uses it.
    std::span<std::byte const> encode(auto const& c, std::span<T const> delta, auto make_delta, auto& m) {
        attempt([&] {
            make_delta();
            session_.check_input(on_, me(), delta, delta.size());
        });
        std::span<std::byte const> bytes;
        attempt([&] {
            c(on_, delta, this->now().own, m);
            bytes = session_.encode([&](wire::bit_writer& sink) { write(sink, m); }).finish();
        });
        return bytes;
    }
    /// use(m), where m becomes what rank `from` has encoded so, unless it has sent nothing.
    void receive(int from, auto const& c, auto& m, auto use) {
        receive(from, [&](wire::bit_reader& source) {
            if (source.left() == 0) return;
            c.blank(on_, x_.size(), this->own_of(from), m);
            read(on_, source, m, c);
            use(std::as_const(m));
        });
    }
    /// Ends a round of so many slots on all ranks alike: throws the same on all, or returns on all, and then the state
    /// is to become that of the next round. One all-gather, in which each rank sends as many `bytes`.
    void close_round(std::uint64_t slot_count, std::span<std::byte const> bytes = {}) {
        sent_.slot_count += slot_count;
        session_.share_failure(*comm_, bytes);
        for (int r = 0; r < comm_->size(); ++r)
            if (!comm_->from(r).is_error) detail::bytes_from(*comm_, r, bytes.size(), "the end of its round");
        broken_.recover();  // nothing has changed yet, on any rank
        session_.finish();
        ++round_;
    }

    session session_;
    traffic sent_;

  private:
    detail::broken_round broken_;
};

}  // namespace laconic
