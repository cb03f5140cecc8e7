// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "laconic/collective/cost_formulas.hpp"

namespace laconic::detail {

/// The sums that an automatic one chooses from: they give the same, to rounding.
inline constexpr std::tuple exact_sums{gathered_sum{},
                                       recursive_doubling{},
                                       split_all_gather{split_all_gather::second_stage::sparse},
                                       split_all_gather{split_all_gather::second_stage::dense},
                                       omni_reduce{},
                                       ring{},
                                       halving_doubling{}};
inline constexpr std::size_t sum_count = std::tuple_size_v<decltype(exact_sums)>;

/// Which exact sum is quickest, by cost_formulas, and why.
struct collective_choice {
    struct option {
        std::string name;  ///< the text of the collective
        double seconds;
    };
    cost_formulas::load what;
    std::array<option, sum_count> options;
    std::size_t best = 0;  ///< the number of the quickest option, of equal ones the first

    /// Throws argument_error as cost_formulas.
    collective_choice(network const& net, cost_formulas::load const& load,
                      cost_formulas::reading_cost const& reading = {})
        : what(load) {
        cost_formulas const seconds(net, load, reading);
        std::apply([&](auto const&... sum) { options = {option{to_string(sum), seconds(sum)}...}; }, exact_sums);
        best = static_cast<std::size_t>(std::min_element(options.begin(), options.end(), quicker) - options.begin());
    }
    /// The quickest one's.
    std::string const& name() const { return options[best].name; }

    /// "ring: 8 ranks, 400 of 1000 numbers each, 0.5 s; next gathered_sum 0.7 s, ..", by how long they take.
    friend std::string to_string(collective_choice const& c) {
        auto sorted = c.options;
        std::stable_sort(sorted.begin(), sorted.end(), quicker);
        std::string text = concat({c.name(), ": ", c.what.ranks, " ranks, ", std::llround(c.what.k), " of ",
                                   std::llround(c.what.d), " numbers each, ", rounded(sorted[0].seconds), " s; next "});
        for (std::size_t i = 1; i < sorted.size(); ++i)
            text += concat({(i == 1 ? "" : ", "), sorted[i].name, " ", rounded(sorted[i].seconds), " s"});
        return text;
    }

  private:
    static bool quicker(option const& a, option const& b) { return a.seconds < b.seconds; }
    // To three digits, for the eye.
    static std::string rounded(double x) {
        char text[32];
        std::snprintf(text, sizeof text, "%.3g", x);
        return text;
    }
};

}  // namespace laconic::detail

namespace laconic {

/// The sum of vectors by whichever exact sum is quickest by the formulas of cost_formulas, for as many terms and blocks
/// that are not 0 as the ranks bring on the average; why() returns the reason. Takes and gives lists or vectors in
/// full. Before the first sum, and then once in a while, the ranks share how many terms they have, and rank 0 what it
/// has chosen: two collective calls, of 16 bytes a rank and of one. The sum is the same for all ranks, bit for bit, but
/// rounded in an order that is that of what is chosen. A sum that fails changes no choice.
struct automatic {
    network net{2e-5, 1e-9};  ///< the costs of messages, measured (measure_cost) or known; these are 20 us, 1 Gbit/s
    cost_formulas::reading_cost reading{};  ///< the time that a rank takes to read what it receives
    int every = 16;                         ///< after so many sums the ranks count their terms again, and choose anew

    static constexpr void description(auto&& describe) {
        describe("auto", "whichever exact sum is quickest over that network for as many terms as there are", "",
                 field("latency", &automatic::net, &network::latency).written_by_name(),
                 field("seconds_per_bit", &automatic::net, &network::seconds_per_bit).written_by_name(),
                 field("overhead", &automatic::net, &network::overhead),
                 field("half_duplex", &automatic::net, &network::half_duplex),
                 field("per_term", &automatic::reading, &cost_formulas::reading_cost::per_term),
                 field("per_number", &automatic::reading, &cost_formulas::reading_cost::per_number),
                 field("every", &automatic::every).between(1, 1e9));
    }
    /// Throws argument_error for seconds that are negative or not finite, or `every` of less than 1.
    void check(std::size_t) const {
        detail::collective_choice(net, {}, reading);
        if (every < 1) throw argument_error({"a choice every ", every, " sums"});
    }
    template <Scalar T, OnHost B = host>
    class adder;
    bool operator==(automatic const&) const = default;
};

namespace detail {

/// What adds up for each of these sums, once it is made. (With a lambda in its type clang 14 ends in a signal where the
/// header is precompiled.)
template <class Sums, class T, class B>
struct adders_of;
template <class... X, class T, class B>
struct adders_of<std::tuple<X...>, T, B> {
    using type = std::tuple<std::optional<sum_of<X, T, B>>...>;
};

}  // namespace detail

template <Scalar T, OnHost B>
class automatic::adder {
  public:
    adder(automatic const& how, std::size_t d, position_code positions)
        : d_(d), how_(how), positions_(positions), session_(positions) {}

    /// v <- the sum of all ranks' v, without the terms that are 0 where it was added up in full. Throws shape_error,
    /// too, where a loaded state is of another number of ranks; all ranks load those of one run.
    void operator()(B& on, PointToPoint auto& comm, sparse_sum<T, B>& v, sum_round const& round = {}) {
        sum_by_best(on, comm, v, round);
    }
    void operator()(B& on, PointToPoint auto& comm, std::span<T> x, sum_round const& round = {}) {
        sum_by_best(on, comm, x, round);
    }

    /// The same of this rank's part alone, as split_all_gather does for lists, ring for vectors in full: no choice.
    void reduce_scatter(B& on, PointToPoint auto& comm, sparse_sum<T, B>& v, sum_round const& round = {}) {
        scatter_sum<0>(on, comm, v, round);
    }
    void reduce_scatter(B& on, PointToPoint auto& comm, std::span<T> x, sum_round const& round = {}) {
        scatter_sum<0>(on, comm, x, round);
    }

    /// By which algorithm the last sum was made, the seconds that each would take by the formulas, and for how many
    /// terms. The same on all ranks; nothing before the first sum.
    std::optional<detail::collective_choice> why() const {
        if (last_.ranks < 1 || last_.best >= detail::sum_count) return {};
        auto made = choice_for(last_);
        made.best = last_.best;
        return made;
    }

    void state(auto& archive) { archive(sums_, last_.terms, last_.blocks, last_.ranks, last_.best); }

  private:
    static constexpr std::size_t block = omni_reduce{}.block;
    // What all ranks brought together when they chose, and the number of the sum among detail::exact_sums.
    struct chosen {
        std::uint64_t terms = 0, blocks = 0;
        int ranks = 0;
        std::uint8_t best = 0;
    };

    // How many terms and blocks a rank brings.
    struct counts {
        std::uint64_t terms = 0, blocks = 0;
    };

    // By the best sum, which is chosen now where it is time.
    void sum_by_best(B& on, auto& comm, auto& v, sum_round const& round) {
        auto now = last_;
        if (sums_ % static_cast<std::uint64_t>(how_.every) == 0) {
            session_.start(on, comm, round, v, d_);
            now = choose(comm, session_.failed() ? counts{} : counts_of(v));
        }
        if (now.ranks != comm.size() || now.best >= detail::sum_count)
            throw shape_error({"auto: this state is not of ", comm.size(), " ranks"});
        by(now.best, [&](auto& sum) { form_(on, comm, sum, v, round); });
        last_ = now;
        ++sums_;
    }
    static counts counts_of(sparse_sum<T, B> const& v) {
        counts all{v.size(), 0};
        std::size_t next = 0;  // the first coordinate beyond the blocks that are counted
        for (auto const i : v.support()) {
            all.blocks += i >= next;
            next = std::max<std::size_t>(next, (i / block + 1) * block);
        }
        return all;
    }
    static counts counts_of(std::span<T const> x) {
        counts all;
        for (std::size_t first = 0; first < x.size(); first += block) {
            auto const part = x.subspan(first, std::min(block, x.size() - first));
            auto const n = part.size() - static_cast<std::size_t>(std::count(part.begin(), part.end(), T(0)));
            all.terms += n;
            all.blocks += n > 0;
        }
        return all;
    }
    // Throws what is wrong with any rank's vector, on all ranks. By collective calls: as some ranks must not throw
    // while others go on to a sum.
    chosen choose(Communicator auto& comm, counts const& mine) {
        chosen all{0, 0, comm.size(), 0};
        session_.share_failure(comm, std::as_bytes(std::span(&mine, 1)));
        session_.finish();
        for (int r = 0; r < comm.size(); ++r) {
            auto const theirs = detail::value_from<counts>(comm, r, "how many terms it has");
            all.terms += theirs.terms;
            all.blocks += theirs.blocks;
        }
        // Where ranks are compiled differently, the last bit could differ, and a choice with it.
        std::byte const best{static_cast<unsigned char>(choice_for(all).best)};
        comm.broadcast(0, {std::span(&best, 1)});
        all.best = detail::value_from<std::uint8_t>(comm, 0, "the sum that it chooses");
        if (all.best >= detail::sum_count) throw comm_error(0, "rank 0 has chosen no sum");
        return all;
    }
    detail::collective_choice choice_for(chosen const& by) const {
        double const d = static_cast<double>(d_), ranks = by.ranks, all = std::ceil(d / block);
        return {how_.net,
                {d, std::min(d, static_cast<double>(by.terms) / ranks), by.ranks, 8 * sizeof(T), positions_,
                 std::min(all, static_cast<double>(by.blocks) / ranks), block},
                how_.reading};
    }

    // The sum of this number, which is made where it is needed first.
    template <std::size_t Nth>
    auto& made() {
        auto& sum = std::get<Nth>(made_);
        if (!sum) sum.emplace(make_sum<T, B>(std::get<Nth>(detail::exact_sums), d_, positions_));
        return *sum;
    }
    // use(the sum of this number).
    template <class Use, std::size_t... Nth>
    void by(std::size_t number, Use use, std::index_sequence<Nth...>) {
        ((Nth == number ? use(made<Nth>()) : void()), ...);
    }
    void by(std::size_t number, auto use) { by(number, use, std::make_index_sequence<detail::sum_count>()); }
    // By the first of them, from Nth on, that can.
    template <std::size_t Nth, class C, class V>
    void scatter_sum(B& on, C& comm, V& v, sum_round const& round) {
        if constexpr (requires { std::get<Nth>(made_)->reduce_scatter(on, comm, v, round); })
            made<Nth>().reduce_scatter(on, comm, v, round);
        else
            scatter_sum<Nth + 1>(on, comm, v, round);
    }

    std::size_t d_;
    automatic how_;
    position_code positions_;
    std::uint64_t sums_ = 0;  // so far
    chosen last_;
    session session_;
    detail::either_form<T, B> form_;
    typename detail::adders_of<std::remove_const_t<decltype(detail::exact_sums)>, T, B>::type made_;
};

}  // namespace laconic
