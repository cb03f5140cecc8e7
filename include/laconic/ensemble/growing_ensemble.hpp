// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "laconic/collective/agreement.hpp"
#include "laconic/collective/session.hpp"
#include "laconic/core/kept.hpp"
#include "laconic/ensemble/candidate.hpp"
#include "laconic/optim/adam.hpp"
#include "laconic/transport/transport.hpp"
#include "laconic/wire/state.hpp"

namespace laconic {

/// An ensemble on one rank that grows from round to round, by a method such as `adanet`. Each rank makes one, with the
/// same data, method and seed, and calls the same members in the same order. All come to the same ensemble, which is
/// the same for any number of ranks and any placement that leaves no candidate out: all is drawn from keys of the seed.
///
/// A round with round_robin over several ranks: rank 0 gathers what those that trained candidates send of them, each a
/// byte and N outputs() numbers in full, or what the compressor makes of them, or the parameters in full. It broadcasts
/// its choice and the weights of that ensemble, in 4 bytes and 8 a member. Then the parameters of each member that is
/// new are broadcast in full by the rank that has them. With replication an all-gather is empty unless a rank failed.
/// Members keep their outputs on the data, so that a round takes from them only passes for the weights.
/// With a compressor that loses something the weights are those for the outputs as they arrived, and F may rise.
template <class Method, OutputLoss Loss, Scalar T, Communicator C, Compressor<T, host> Z>
class growing_ensemble {
  public:
    using member = ensemble_member<T>;

    /// Throws argument_error for a method outside its ranges and for what makes no network; agreement_error on every
    /// rank where ranks disagree on method, data, seed or compressor.
    growing_ensemble(Method how, dataset<T> data, Loss loss, C& comm, std::uint64_t seed, Z compressor)
        : how_(how),
          family_(std::move(data), std::move(loss), how.width),
          comm_(comm),
          seed_{seed},
          compressor_(std::move(compressor)) {
        detail::check_fields(how_);
        compressor_.check(family_.outputs());
        family_.of(1);
        auto anywhere = how_;
        anywhere.placed = {}, anywhere.send = {};
        auto const& d = family_.data();
        auto const of = [](auto const* p, std::int64_t n) {
            return detail::digest(std::as_bytes(std::span(p, static_cast<std::size_t>(n))));
        };
        items_ = {{"the method", to_string(anywhere)},
                  {"the compressor", to_string(compressor_)},
                  {"the seed", seed},
                  {"the bytes of a number", sizeof(T)},
                  {"the version of the wire format", wire::wire_version},
                  {"the outputs of a row", family_.loss().outputs()},
                  {"the rows", detail::concat({d.samples(), " of ", d.features(), " numbers"})},
                  {"the numbers", of(d.rows.valuePtr(), d.rows.nonZeros())},
                  {"their columns", of(d.rows.innerIndexPtr(), d.rows.nonZeros())},
                  {"the ends of rows", of(d.rows.outerIndexPtr(), d.rows.rows() + 1)},
                  {"the labels", of(d.labels.data(), d.rows.rows())}};
        auto agreed = items_;
        agreed.add({"the placement", to_string(how_)});
        require_agreement(comm, agreed);
    }

    /// What there is before a round: value() is F on the data, infinite where there are no members.
    struct observation {
        std::uint64_t round;
        std::span<member const> members;
        double f;
        double value() const { return f; }
    };
    observation look() const { return {round_, members_, value_}; }

    /// One round; it does nothing once stopped(). Throws on every rank, with nothing changed on any: non_finite_error
    /// where no ensemble that is a choice has a finite F, with the rank that trained the first candidate and the first
    /// of its parameters, or behind them of its outputs, that is not finite (how many they are, where only F is not);
    /// and compression_error where a rank throws in its own part of the round. One candidate of several that is not
    /// finite is left out. Where a rank loses the others while it waits for rank 0's choice or for parameters, it
    /// throws comm_error until a state is restored.
    void round() {
        broken_.require_consistent(comm_->rank(), round_);
        if (stopped_) return;
        auto fresh = candidates();
        auto const best = is_shared_out() ? choice_of_rank_0(fresh) : choice_of_all(fresh);
        auto next = how_.rule().keeps(best.ensemble) ? members_ : std::vector<member>();
        for (std::size_t const s : how_.rule().added(best.ensemble)) {
            if (is_shared_out()) spread_parameters(s, fresh[s]);
            next.push_back(std::move(fresh[s].net));
            next.back().outputs = family_.predict(next.back().depth, next.back().parameters);
        }
        for (std::size_t j = 0; j < next.size(); ++j) next[j].weight = best.weights[j];
        adopt(std::move(next), best.weights);
        stopped_ = best.ensemble == 0 && !how_.retry;
        ++round_;
        broken_.recover();
    }

    std::uint64_t rounds() const { return round_; }
    /// Whether a round has chosen the ensemble of the round before, and the method does not retry.
    bool stopped() const { return stopped_; }

    /// The outputs for other data with the same features, row after row; its labels do not matter.
    std::vector<T> predict(dataset<T> const& other) const {
        std::vector<double> z(other.samples() * family_.loss().outputs());
        for (auto const& m : members_) family_.add_prediction(m.depth, m.parameters, other, m.weight, z);
        return {z.begin(), z.end()};
    }

    /// The state, the same bytes on all ranks, for restore(). Call it between rounds.
    std::vector<std::byte> save() const {
        broken_.require_consistent(comm_->rank(), round_);
        saved_state s{round_, stopped_, {}, {}, {}};
        for (auto const& m : members_) {
            s.depths.push_back(m.depth);
            s.weights.push_back(m.weight);
            s.parameters.insert(s.parameters.end(), m.parameters.begin(), m.parameters.end());
        }
        wire::state_writer archive(items_.lines());
        s.state(archive);
        return archive.finish();
    }
    /// Restores the state of a run with the same data, method, compressor and seed, on any number of ranks and with any
    /// placement; the next rounds are then the same, bit for bit. Throws shape_error for another run's state,
    /// wire_error for damaged bytes; then nothing has changed.
    void restore(std::span<std::byte const> saved) {
        saved_state s;
        wire::state_reader archive(saved, items_.lines());
        s.state(archive);
        archive.rewind();
        s.state(archive);
        std::vector<member> members;
        std::span<T const> left(s.parameters);
        auto const require = [](bool fits) {
            if (!fits) throw wire_error(0, "the saved state: its members do not fit together");
        };
        require(s.depths.size() == s.weights.size());
        for (std::size_t j = 0; j < s.depths.size(); ++j) {
            auto const depth = static_cast<std::size_t>(s.depths[j]);
            // every layer but the first and the last has this many
            require(depth == 0 || depth - 1 <= left.size() / (how_.width * (how_.width + 1)));
            std::size_t const d = family_.of(depth).dimension();
            require(d <= left.size() && std::isfinite(s.weights[j]));
            auto const mine = left.first(d);
            members.push_back({depth, s.weights[j], {mine.begin(), mine.end()}, family_.predict(depth, mine)});
            left = left.subspan(d);
        }
        require(left.empty());
        adopt(std::move(members), s.weights);
        round_ = s.round, stopped_ = s.stopped;
        broken_.recover();
    }

  private:
    using candidate_type = candidate<T, Z>;

    struct saved_state {
        std::uint64_t round = 0;
        bool stopped = false;
        std::vector<std::uint64_t> depths;
        std::vector<double> weights;
        std::vector<T> parameters;

        void state(auto& archive) { archive(round, stopped), archive.of_any_length(depths, weights, parameters); }
    };

    bool is_shared_out() const { return comm_->size() > 1 && how_.placed != placement_strategy::replication; }
    int trainer(std::size_t s) const {
        return trainer_of(how_.placed, comm_->size(), static_cast<int>(how_.rule().candidates), int(s));
    }
    // Of candidate s: child 0 draws the starting point, 1 the rows, 2 the message.
    key key_of(std::size_t s, std::uint64_t child) const { return seed_.child(round_).child(s).child(child); }

    void adopt(std::vector<member> members, std::span<double const> weights) {
        members_ = std::move(members);
        value_ = members_.empty() ? std::numeric_limits<double>::infinity()
                                  : how_.rule().template mixture_of<T>(family_.loss(), members_).penalised(weights);
    }

    // Trains this rank's; what goes wrong is own_.
    std::vector<candidate_type> candidates() {
        std::vector<candidate_type> all(how_.rule().candidates);
        own_ = {};
        for (std::size_t s = 0; s < all.size(); ++s) {
            auto const depth = all[s].net.depth = (members_.empty() ? 0 : members_.back().depth) + s;
            if (own_ || (is_shared_out() && trainer(s) != comm_->rank())) continue;
            own_ = detail::failure::of_making(comm_->rank(), round_, [&] {
                auto const net = family_.of(depth);
                auto x = net.initial_point(key_of(s, 0), activation::tanh::first_weight);
                train(net, rmsprop<T>(how_.rate), std::span<T>(x), key_of(s, 1), how_.steps, how_.batch);
                all[s].take(family_, compressor_, key_of(s, 2), std::move(x));
                return detail::failure();
            });
        }
        return all;
    }
    // Of ranks that have all candidates; where there is no choice it throws non_finite_error of that rank.
    ensemble_choice choose(int rank, std::vector<candidate_type> const& fresh) {
        std::vector<member> nets;
        for (auto const& c : fresh) nets.push_back({c.net.depth, 0, {}, c.net.outputs});
        auto const best = how_.rule().template choose<T>(family_.loss(), members_, value_, nets);
        if (!best) detail::failure::not_finite(fresh[0].bad).by(rank, round_).raise();
        return *best;
    }
    ensemble_choice choice_of_all(std::vector<candidate_type> const& fresh) {
        ensemble_choice best;
        if (!own_)
            own_ = detail::failure::of_making(comm_->rank(), round_, [&] {
                best = choose(comm_->rank(), fresh);
                return detail::failure();
            });
        detail::share_failure(*comm_, own_, sink_).raise();
        broken_.rank_moves();  // what throws from here on throws on this rank alone
        return best;
    }

    ensemble_choice choice_of_rank_0(std::vector<candidate_type>& fresh) {
        sink_.clear();
        for (std::size_t s = 0; !own_ && s < fresh.size(); ++s)
            if (trainer(s) == comm_->rank()) fresh[s].write(sink_, how_.send);
        comm_->gather(0, own_ ? own_.sent(sink_) : payload{sink_.finish()});
        auto const answer = [&] {
            for (int rank = 1; rank < comm_->size(); ++rank) {
                auto const receive = [&] {
                    wire::bit_reader source(comm_->from(rank).bytes);
                    for (std::size_t s = 0; s < fresh.size(); ++s)
                        if (trainer(s) == rank) fresh[s].read(source, how_.send, family_, compressor_, key_of(s, 2));
                    source.finish();
                    return detail::failure();
                };
                detail::failure::of_making(rank, round_, receive).raise();
            }
            auto const make = [&] {
                auto const best = choose(trainer(0), fresh);
                sink_.clear(), sink_.put(best.ensemble, 32), put_numbers(sink_, best.weights);
                return detail::failure();
            };
            detail::failure::of_making(0, round_, make).raise();
            return sink_.finish();
        };
        wire::bit_reader source(detail::answer_of_rank_0(*comm_, sink_, broken_, answer));
        ensemble_choice best{detail::as_size(source.take(32)), {}};
        if (best.ensemble > how_.rule().ensembles()) source.refuse("an ensemble that no rank has made");
        std::size_t const kept = how_.rule().keeps(best.ensemble) ? members_.size() : 0;
        best.weights.resize(kept + how_.rule().added(best.ensemble).size());
        take_numbers(source, best.weights);
        source.finish();
        return best;
    }
    void spread_parameters(std::size_t s, candidate_type& c) {
        int const from = trainer(s);
        sink_.clear();
        if (comm_->rank() == from) put_numbers(sink_, c.net.parameters);
        comm_->broadcast(from, {sink_.finish(), false});
        if (comm_->rank() == from) return;
        wire::bit_reader source(comm_->from(from).bytes);
        c.read_parameters(source, family_);
        source.finish();
    }

    Method how_;
    network_family<Loss, T> family_;
    detail::kept<C> comm_;
    key seed_;
    Z compressor_;
    detail::agreed_items items_;
    std::vector<member> members_;
    double value_ = std::numeric_limits<double>::infinity();
    std::uint64_t round_ = 0;
    bool stopped_ = false;
    detail::failure own_;
    wire::bit_writer sink_;
    detail::broken_round broken_;
};

}  // namespace laconic
