// SPDX-License-Identifier: Apache-2.0
// How long collectives take among 4 to 4096 ranks that are not there, over networks that are not there, beside what
// cost_formulas says. Every collective runs as it is, once for each number of ranks, and is written down; what is
// written is replayed over each network. Prints CSV; ends with 1 where a time is more than 5 % off what it must be.
//
// So many vectors of a large model are too much for one machine. A vector of d / s numbers over a network that takes s
// times as long for a bit takes as long as one of d numbers, except for what is not proportional to d: the bits that
// say how many terms follow, and the chance of few terms. So the formula is asked for the same d / s when they are
// compared.
//
//     scaling [MOST_RANKS]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/collective/collective.hpp"
#include "laconic/collective/collectives.hpp"
#include "laconic/collective/cost_formulas.hpp"
#include "laconic/comm/fibers.hpp"
#include "laconic/comm/replay.hpp"
#include "laconic/core/key.hpp"

namespace {

using namespace laconic;
using logs = std::vector<std::vector<log_entry>>;

struct named_network {
    std::string name;
    racks how;
    bool flat = true;  // the formulas are for networks without racks
};
// What is summed, and over what: all at this density.
struct model {
    std::string name;
    double d, density;
    std::vector<named_network> networks;
};

network at(double bits_a_second, double latency, double overhead, bool half_duplex = false) {
    return {latency, 1 / bits_a_second, overhead, half_duplex};
}
racks in_racks(network const& ports, double links_per_port) {
    return {ports, 16, {ports.latency, ports.seconds_per_bit / links_per_port, 0}};
}

std::vector<model> const models = {
    {"ResNet-50",
     25557032,
     0.001,
     {{"1 Gbit/s", {at(1e9, 45e-6, 5e-6)}},
      {"10 Gbit/s", {at(1e10, 18e-6, 2e-6)}},
      {"100 Gbit/s", {at(1e11, 4.5e-6, 0.5e-6)}},
      {"10 Gbit/s in racks", in_racks(at(1e10, 18e-6, 2e-6), 4), false}}},
    {"sensors",
     100000,
     0.01,
     {{"10 Mbit/s", {at(1e7, 4e-3, 1e-3)}}, {"250 kbit/s radio", {at(250e3, 5e-3, 2e-3, true)}}}}};

constexpr std::size_t block = 16;

// What one rank brings: k of d numbers, or all of a share of the blocks.
sparse_sum<float> terms(std::size_t d, std::size_t k, int rank) {
    auto const from = key{6}.child(static_cast<std::uint64_t>(rank));
    std::vector<std::uint32_t> here;
    for (std::uint64_t i = 0; here.size() < k; i += k) {
        for (std::uint64_t j = 0; here.size() < k; ++j)
            here.push_back(static_cast<std::uint32_t>(from.below(i + j, d)));
        std::sort(here.begin(), here.end());
        here.erase(std::unique(here.begin(), here.end()), here.end());
    }
    sparse_sum<float> v(d);
    for (auto const i : here) v.append(i, 1 + static_cast<float>(from.below((1u << 30) + i, 1000)) / 1000);
    return v;
}
// In full: all, or k / block blocks.
std::vector<float> numbers(std::size_t d, std::size_t k, int rank) {
    std::vector<float> x(d, k == d ? 1.f : 0.f);
    if (k == d) return x;
    auto const blocks = terms(d / block, k / block, rank);
    for (auto const b : blocks.support()) std::fill_n(x.begin() + static_cast<std::ptrdiff_t>(b * block), block, 1.f);
    return x;
}
template <class X>
logs written_down(X const& made, int ranks, std::size_t d, std::size_t k) {
    logs all(static_cast<std::size_t>(ranks));
    auto const body = [&](fibers::member& inner) {
        recorded comm(inner);
        host on;
        X collective = made;
        auto const sum_once = [&] {
            if constexpr (detail::SumsTerms<X, float, host, recorded<fibers::member>>) {
                auto v = terms(d, k, comm.rank());
                collective(on, comm, v);
            } else {
                auto x = numbers(d, k, comm.rank());
                collective(on, comm, std::span(x));
            }
        };
        if constexpr (requires { collective.threshold(); }) {  // it is found in a first round
            sum_once();
            comm.take_log();
        }
        sum_once();
        all[static_cast<std::size_t>(comm.rank())] = comm.take_log();
    };
    fibers::run(ranks, body, {std::size_t{1} << 17});
    return all;
}

struct collective_of_study {
    std::string name;
    // The d of a model of d numbers among so many ranks, at a density; 0 where memory or what is to be known lacks.
    std::function<double(double d, double ranks, double density)> simulated;
    std::function<logs(int ranks, std::size_t d, std::size_t k)> run;
    std::function<double(cost_formulas const&, std::size_t k)> formula;
    bool in_full = false;    // of all numbers
    bool in_blocks = false;  // of blocks, of which 1 % are not 0
    bool any_ranks = true;   // the formula holds for any number of ranks, else for powers of two
};

// Lists of at least so many terms, and so many numbers on all ranks together.
auto parts_of(double least_terms, double most_numbers, double most_ranks) {
    return [=](double d, double ranks, double density) {
        double const size = std::min(d, std::floor(most_numbers / ranks));
        return ranks <= most_ranks && size * density / ranks >= least_terms ? size : 0;
    };
}

// As many numbers on all ranks together as memory allows; where these are not all, parts are of one length.
double of_all(double d, double ranks, double) {
    return std::min(d, 12 * ranks * std::max(1.0, std::floor(1e7 / ranks / ranks)));
}

// Of what make(k) returns.
template <class Make>
collective_of_study of(std::string name, std::function<double(double, double, double)> simulated, Make make,
                       bool in_full = false, bool in_blocks = false, bool any_ranks = true) {
    return {std::move(name),
            std::move(simulated),
            [make](int ranks, std::size_t d, std::size_t k) {
                return written_down(make_sum<float>(make(k), d), ranks, d, k);
            },
            [make](cost_formulas const& seconds, std::size_t k) { return seconds(make(k)); },
            in_full,
            in_blocks,
            any_ranks};
}

std::vector<collective_of_study> const collectives = {
    of(
        "ring", of_all, [](std::size_t) { return ring{}; }, true),
    of(
        "halving_doubling", of_all, [](std::size_t) { return halving_doubling{}; }, true),
    of(
        "gathered_sum",
        [](double d, double ranks, double) { return ranks <= 256 ? std::min(d, std::floor(2e9 / ranks / ranks)) : 0; },
        [](std::size_t) { return gathered_sum{}; }),
    of(
        "recursive_doubling", [](double d, double ranks, double) { return std::min(d, std::floor(5e7 / ranks)); },
        [](std::size_t) { return recursive_doubling{}; }),
    of("split_all_gather", parts_of(20, 1.5e8, 256), [](std::size_t) { return split_all_gather{}; }),
    of("split_all_gather(dense)", parts_of(20, 1.2e8, 256),
       [](std::size_t) { return split_all_gather{split_all_gather::second_stage::dense}; }),
    of(
        "omni_reduce", parts_of(150 * block, 2e8, 64), [](std::size_t) { return omni_reduce{block}; }, false, true),
    of(
        "gtop_k", [](double d, double ranks, double) { return std::min(d, std::floor(6e9 / ranks)); },
        [](std::size_t k) { return gtop_k{k}; }, false, false, false),
    of("ok_top_k", parts_of(20, 6e7, 256), [](std::size_t k) { return ok_top_k{k}; }),
    of("spar_reduce_scatter", parts_of(6, 6e7, 4096), [](std::size_t k) {
        return spar_reduce_scatter{k, true};
    })};

cost_formulas::load load_of(collective_of_study const& x, double d, double density, int ranks) {
    cost_formulas::load what{d, x.in_full ? d : std::round(d * density), ranks};
    if (x.in_blocks) {
        what.blocks = std::floor(what.k / block);
        what.block = block;
    }
    return what;
}

// Returns whether all is as it must be.
bool study(collective_of_study const& x, model const& m, int ranks) {
    double const density = x.in_blocks ? 0.01 : m.density;
    double d = std::min(m.d, x.simulated(m.d, ranks, density));
    if (x.in_blocks) d = std::floor(d / block) * block;
    logs was;
    auto const what = load_of(x, d, density, ranks);
    if (d > 0) was = x.run(ranks, static_cast<std::size_t>(d), static_cast<std::size_t>(what.k));
    bool right = true;
    for (auto const& [name, how, flat] : m.networks) {
        std::string simulated, formula, ratio;
        bool const exact = flat && (x.any_ranks || (ranks & (ranks - 1)) == 0);
        auto slower = how;
        if (d > 0) {
            slower.ports.seconds_per_bit *= m.d / d;
            slower.links.seconds_per_bit *= m.d / d;
            auto const ends = replay(slower, was);
            double const took = *std::max_element(ends.begin(), ends.end());
            double const expected = x.formula(cost_formulas(slower.ports, what), static_cast<std::size_t>(what.k));
            simulated = detail::shortest(took);
            ratio = detail::shortest(took / expected);
            if (exact && std::abs(took / expected - 1) > 0.05) {
                right = false;
                std::fprintf(stderr, "%s among %d ranks, %s, %s: %g s, but the formula says %g s\n", x.name.c_str(),
                             ranks, m.name.c_str(), name.c_str(), took, expected);
            }
        }
        auto const all = load_of(x, m.d, density, ranks);
        double const whole = x.formula(cost_formulas(how.ports, all), static_cast<std::size_t>(all.k));
        std::printf("%s,%s,%s,%d,%g,%s,%s,%s,%s\n", x.name.c_str(), m.name.c_str(), name.c_str(), ranks,
                    d > 0 ? m.d / d : 0, simulated.c_str(), ratio.c_str(), exact ? "yes" : "no",
                    detail::shortest(whole).c_str());
    }
    std::fflush(stdout);
    return right;
}

}  // namespace

int main(int count, char** words) {
    int const most = count > 1 ? std::atoi(words[1]) : 4096;
    try {
        std::puts("collective,model,network,ranks,scale,simulated,ratio,exact,formula");
        bool right = true;
        for (int const ranks : {4, 6, 8, 16, 24, 64, 96, 256, 384, 1024, 4096})
            for (auto const& x : collectives)
                for (auto const& m : models)
                    if (ranks <= most) right = study(x, m, ranks) && right;
        return right ? 0 : 1;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "scaling: %s\n", e.what());
        return 2;
    }
}
