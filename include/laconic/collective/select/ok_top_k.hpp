// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "laconic/collective/collective.hpp"
#include "laconic/collective/parts.hpp"

namespace laconic::detail {

/// The coordinates 0 .. d - 1 in one region for each of P ranks, of any lengths, so that all have about as many terms.
struct regions {
    std::size_t d = 0;
    std::vector<std::uint64_t> starts{};  ///< of each, and d; empty before the first round

    std::size_t first(std::size_t p) const { return static_cast<std::size_t>(starts[p]); }
    std::size_t length(std::size_t p) const { return first(p + 1) - first(p); }

    /// Sets equal regions where there are none. Throws shape_error where there are some, from a loaded state, of
    /// another number of ranks or of numbers.
    void prepare(std::size_t ranks) {
        if (starts.empty())
            for (std::size_t p = 0; p <= ranks; ++p) starts.push_back(detail::partition{d, ranks}.first(p));
        if (starts.size() != ranks + 1 || starts[0] != 0 || starts[ranks] != d ||
            !std::is_sorted(starts.begin(), starts.end()))
            throw shape_error({"this state is not of ", ranks, " ranks and ", d, " numbers"});
    }
    /// Where region p of `ranks` would start for v alone; where v has no terms, in equal parts.
    template <Scalar T, class B>
    std::uint64_t quantile(sparse_sum<T, B> const& v, std::size_t p, std::size_t ranks) const {
        if (v.size() == 0) return detail::partition{d, ranks}.first(p);
        return v.support()[detail::partition{v.size(), ranks}.first(p)];
    }
    /// Sets other starts. They ascend, as means of ascending starts; if a rank has sent others, they are raised.
    void move(std::vector<std::uint64_t> const& next) {
        for (std::size_t p = 1; p + 1 < starts.size(); ++p) starts[p] = std::max(starts[p - 1], next[p]);
    }
    /// Whether one of them has more than four times its share of v's terms.
    template <Scalar T, class B>
    bool uneven(sparse_sum<T, B> const& v) const {
        auto const ranks = starts.size() - 1, bound = 4 * (v.size() / ranks + 1);
        bool found = false;
        for (std::size_t p = 0; p < ranks; ++p) found |= v.count_below(first(p + 1)) - v.count_below(first(p)) > bound;
        return found;
    }
};

}  // namespace laconic::detail

namespace laconic {

/// About k terms of the sum of sparse vectors (Ok-Topk's sparse all-reduce, Li, Hoefler, PPoPP 2022). Each rank adds up
/// one region of the coordinates, and sends those of its sums whose magnitude reaches a threshold that all ranks share:
/// - regions are such that all ranks bring about as many terms to each, and are kept for reused_for.regions rounds:
///   where they start is the mean of the ranks' quantiles. These travel with the terms of a round, for the next ones,
///   and cost no message;
/// - the threshold is the magnitude of the k-th largest sum; to find it, all sums are gathered, every
///   reused_for.threshold rounds. In between, a round that applies more than 5/4 k raises it by 2.5 %, one of fewer
///   than 4/5 k lowers it, and after one of more than 2 k or fewer than k / 2 it is found anew;
/// - balance: after a round in which a region would have had more than four times the mean of what was applied, the
///   next one deals the sums to all ranks before they are gathered, in P - 1 messages more, and finds the regions anew.
/// What a rank brought of coordinates that are not applied returns to it, and an applied sum is whole: the sum of what
/// is brought = what is applied + the sum of what is returned. The paper's local thresholds are left to a compressor
/// (about_top_k, threshold), its residuals to a feedback.
///
/// P - 1 + ceil(log2 P) messages; a rank sends about (P - 1) / P of its k terms and of those applied. Sums are added up
/// in the order of ranks, each by one rank for all, so that all get the same bits. Any P. Reuses its memory, which is
/// enough for as many terms as all ranks bring where none brings more than this one in its first round.
struct ok_top_k {
    /// The numbers of rounds for which it uses a threshold and regions before it computes them anew.
    struct reused_for {
        std::uint64_t threshold = 32, regions = 64;  ///< at least 1

        /// Throws argument_error for 0 rounds.
        void check() const {
            if (threshold < 1 || regions < 1)
                throw argument_error("ok_top_k: a threshold and regions are used for at least one round");
        }
        bool operator==(reused_for const&) const = default;
    };

    portion k = 0.01;
    reused_for rounds{};

    static constexpr void description(auto&& describe) {
        describe("ok_top_k", "about k terms of the sum", "Ok-Topk: Li, Hoefler, PPoPP 2022",
                 field("k", &ok_top_k::k).written(),
                 field("threshold", &ok_top_k::rounds, &reused_for::threshold).between(1, 0x1p53),
                 field("regions", &ok_top_k::rounds, &reused_for::regions).between(1, 0x1p53));
    }
    void check(std::size_t d) const {
        k.check(d);
        rounds.check();
    }
    /// By the cost_formulas, of the rounds in which nothing is found anew: P - 1 lists of k / P terms at once, and the
    /// k / P sums of each rank that are applied, as they are gathered.
    double seconds(auto const& costs) const {
        double const ranks = costs.ranks(), part = costs.what().d / ranks, terms = costs.what().k / ranks;
        return ranks == 1 ? 0 : costs.at_once(costs.list(part, terms), terms) + costs.gathered_parts(part, terms);
    }
    template <Scalar T, OnHost B = host>
    class adder;
    bool operator==(ok_top_k const&) const = default;
};

template <Scalar T, OnHost B>
class ok_top_k::adder {
  public:
    adder(ok_top_k const& how, std::size_t d, position_code positions)
        : d_(d), k_(std::min(how.k.of(d), d)), rounds_(how.rounds), session_(positions), regions_{d} {}

    /// v <- the terms that are applied, the same on all ranks; each brings its own v, usually about its top k. After an
    /// error leftover() is unspecified, and what is remembered is as it was. Throws shape_error, too, where a loaded
    /// state is of another number of ranks, wire_error where it is not that of the others.
    void operator()(B& on, PointToPoint auto& comm, sparse_sum<T, B>& v, sum_round round = {}) {
        prepare(static_cast<std::size_t>(comm.size()));
        make_room(on, v);
        session_.start(on, comm, round, v, d_);
        brought_.reset(d_);
        if (!session_.failed()) brought_.append(v, 0);
        split(on, comm);
        if (!exact()) mine_.keep_from(on, threshold_);
        if (uneven_) deal(on, comm);
        gather(on, comm);
        session_.finish();
        put_together(v, static_cast<std::size_t>(comm.rank()));
        learn(on, v);
        leftover_.assign_without(on, brought_, v);
    }

    /// What this rank keeps, to be sent later: those of its terms whose coordinates are not applied.
    sparse_sum<T, B> const& leftover() const { return leftover_; }
    /// What a sum must reach to be applied in the next round, if its threshold is not found anew; 0 before the first.
    T threshold() const { return threshold_; }
    /// Where the ranks' regions start in the next round, and d; before the first nothing, or equal ones.
    std::vector<std::uint64_t> const& regions() const { return regions_.starts; }

    void state(auto& archive) {
        if (held_ == 0) regions_.starts.clear();  // what a first round left that was refused
        archive(held_, threshold_, anew_, uneven_);
        archive.of_any_length(regions_.starts);
    }

  private:
    bool exact() const { return anew_ || held_ % rounds_.threshold == 0; }
    bool new_regions() const { return uneven_ || held_ % rounds_.regions == 0; }
    void prepare(std::size_t n) {
        if (!(threshold_ >= 0)) throw shape_error("ok_top_k: this state has a threshold below 0");
        regions_.prepare(n);
        next_.assign(n, 0);
    }
    // Once: a later round may bring other terms, and find its threshold anew, when all sums are gathered.
    void make_room(B& on, sparse_sum<T, B>& v) {
        auto const own = std::max(std::min(v.size(), d_), k_);
        auto const all = own > d_ / next_.size() ? d_ : own * next_.size();
        piece_.reserve_to_read(all);
        mine_.reserve_to_drop(on, all);
        share_.reserve_to_drop(on, all);  // the two are exchanged
        for (auto* const list : {&brought_, &leftover_}) list->reserve(on, own);
        v.reserve_to_cut(on, all, k_);
        lists_.reserve(on, next_.size(), all);
        session_.template make_room<T>(all + next_.size());
    }
    // The same on ranks that remember the same, as they must to understand each other.
    std::uint64_t digest() const {
        key all = key{held_}.child(anew_ ? 1 : 0).child(uneven_ ? 1 : 0);
        all = all.child(std::bit_cast<std::uint64_t>(static_cast<double>(threshold_)));
        for (auto const s : regions_.starts) all = all.child(s);
        return all.bits & 0xffffffffu;
    }
    std::uint64_t take_coordinate(wire::bit_reader& source) const {
        auto const at = source.take(32);
        if (at > d_) source.refuse(detail::concat({"a region from ", at, " of ", d_}));
        return at;
    }

    // Each rank receives from all where they would have its region start, and takes the mean: a sum of 64 bits.
    void split(B& on, PointToPoint auto& comm) {
        auto const n = next_.size(), me = static_cast<std::size_t>(comm.rank());
        std::uint64_t const what = digest();
        std::uint64_t sum = regions_.quantile(brought_, me, n);
        auto const send = [&](wire::bit_writer& sink, std::size_t p) {
            sink.put(what, 32);
            if (new_regions()) sink.put(regions_.quantile(brought_, p, n), 32);
        };
        auto const receive = [&](wire::bit_reader& source, std::size_t) {
            if (source.take(32) != what) source.refuse("it remembers other regions, or another threshold");
            if (new_regions()) sum += take_coordinate(source);
        };
        detail::split_and_add(on, comm, session_, regions_, brought_, mine_, piece_, lists_, send, receive);
        next_[me] = sum / n;
    }

    // Every rank gets as many of each region's terms, of all coordinates.
    void deal(B& on, PointToPoint auto& comm) {
        auto const n = next_.size(), me = static_cast<std::size_t>(comm.rank());
        auto const cut = [&](std::size_t p) {
            detail::partition const shares{mine_.size(), n};
            piece_.reset(mine_.dimension());
            piece_.append({shares.of(mine_.support(), p), shares.of(mine_.values(), p)}, 0);
        };
        for (std::size_t step = 1; step < n; ++step)
            session_.send(comm, static_cast<int>((me + step) % n), [&](wire::bit_writer& sink) {
                cut((me + step) % n);
                write(sink, piece_);
            });
        share_.reset(d_);
        for (std::size_t r = 0; r < n; ++r) {
            if (r == me) {
                cut(me);
                share_.append(piece_, regions_.first(me));
                continue;
            }
            session_.receive(comm, static_cast<int>(r), [&](wire::bit_reader& source) {
                detail::read_and_append(on, source, piece_, regions_.length(r), share_, regions_.first(r));
            });
        }
        std::swap(mine_, share_);
    }

    // The ranks' lists come in the order of ranks from this one on.
    void gather(B& on, PointToPoint auto& comm) {
        auto const me = static_cast<std::size_t>(comm.rank());
        auto const first = [&](std::size_t p) { return uneven_ ? 0 : regions_.first(p); };
        auto const length = [&](std::size_t p) { return uneven_ ? d_ : regions_.length(p); };
        auto const send = [&](wire::bit_writer& sink) {
            if (new_regions()) sink.put(next_[me], 32);
            write(sink, mine_);
        };
        auto const receive = [&](wire::bit_reader& source, std::size_t p) {
            if (new_regions()) next_[p] = take_coordinate(source);
            detail::read_and_append(on, source, piece_, length(p), lists_, first(p));
        };
        lists_.clear();
        lists_.append(mine_, first(me));
        detail::all_gather_by(comm, session_, send, receive);
    }

    // v <- all that was gathered: regions, or shares of all of them. What is wrong with these is so on all ranks.
    void put_together(sparse_sum<T, B>& v, std::size_t me) {
        auto const n = next_.size();
        v.reset(d_);
        left_.clear();
        for (std::size_t i = 0; i < n; ++i) left_.push_back(lists_[i]);
        for (std::size_t p = 0; p < n; ++p)
            for (std::size_t r = uneven_ ? 0 : p; r < (uneven_ ? n : p + 1); ++r) {
                auto& [at, values] = left_[(r + n - me) % n];
                auto const share = static_cast<std::size_t>(
                    std::lower_bound(at.begin(), at.end(), regions_.first(p + 1)) - at.begin());
                if (share == 0) continue;
                if (v.size() > 0 && at[0] <= v.support().back())
                    throw wire_error(0, detail::concat({"from rank ", r, ": a share of sums that others have"}));
                v.append({at.first(share), values.first(share)}, 0);
                at = at.subspan(share), values = values.subspan(share);
            }
    }

    // Cuts v where all sums are known, and prepares the next round. All ranks see the same.
    void learn(B& on, sparse_sum<T, B>& v) {
        auto const total = v.size();
        if (exact()) {
            share_.reset(d_);
            v.keep_largest(on, k_, share_);
            threshold_ = total < k_ ? T(0) : std::numeric_limits<T>::infinity();
            for (T const x : v.values()) threshold_ = std::min(threshold_, std::abs(x));
            anew_ = false;
        } else {
            if (4 * total > 5 * k_) threshold_ *= T(1.025);
            if (5 * total < 4 * k_) threshold_ /= T(1.025);
            anew_ = total > 2 * k_ || 2 * total < k_;
        }
        if (new_regions()) regions_.move(next_);
        uneven_ = regions_.uneven(v);
        ++held_;
    }

    std::size_t d_, k_;
    ok_top_k::reused_for rounds_;
    session session_;
    std::uint64_t held_ = 0;  // rounds
    T threshold_ = 0;
    bool anew_ = false, uneven_ = false;  // the next round finds the threshold; deals its sums, and finds regions
    detail::regions regions_;
    std::vector<std::uint64_t> next_;  // where each rank would have its region start
    sparse_sum<T, B> mine_, piece_, share_, brought_, leftover_;
    detail::gathered_lists<T, B> lists_;          // this rank's first
    std::vector<kernels::listed_terms<T>> left_;  // what of each is not put together
};

}  // namespace laconic
