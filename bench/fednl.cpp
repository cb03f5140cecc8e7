// SPDX-License-Identifier: Apache-2.0
// FedNL on the data sets of u-FedNL's repository (arXiv:2410.08760), with its settings: 142 clients with contiguous
// parts of the rows, lambda = 0.001, from x = 0 and Hessians of zeros, option 2, k = 8 d. Prints a table in Markdown:
// rounds until |grad f| is at most 1e-12 (or 400), first where a step uses the Hessian as it was learned before the
// round, as in the paper, then where it uses this round's messages too, as is usual here; and of the latter the MiB
// that all clients send, as metered, the MiB of the same messages as that program's formats have them (float64 values,
// 32 bits for an index of top-k, none for rand-k's, 12 bits for a natural number), and seconds. All ranks run in one
// thread, and each does all that the server would: a rank takes about a 142nd of the seconds.
//
//     fednl FOLDER [SET...]        SET.xz, .gz or plain: a9a, splice, mushrooms and australian where none is named
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "common/race_data.hpp"
#include "laconic/comm/fibers.hpp"
#include "laconic/comm/metered.hpp"
#include "laconic/compress/identity.hpp"
#include "laconic/compress/natural.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/objective/regression.hpp"
#include "laconic/second_order/fednl.hpp"

namespace {

using namespace laconic;

constexpr int clients = 142;
constexpr double lambda = 1e-3, goal = 1e-12;
constexpr std::size_t most_rounds = 400;

double gradient_norm(std::vector<logistic_regression<>> const& f, std::span<double const> x) {
    std::vector<double> sum(x.size()), one(x.size());
    for (auto const& each : f) {
        each.gradient(x, one);
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += one[i] / clients;
    }
    double square = 0;
    for (double const v : sum) square += v * v;
    return std::sqrt(square);
}

// Rounds while goes_on(k, x), which the ranks ask one after another; the bytes that all send.
template <class M, class GoesOn>
double run_while(M const& method, std::vector<logistic_regression<>> const& f, GoesOn goes_on) {
    double bytes = 0;
    fibers::run(clients, [&](fibers::member& comm) {
        metered wire(comm);
        auto const& mine = f[std::size_t(comm.rank())];
        std::vector<double> x(mine.dimension());
        auto run = method.template start<double>(problem{}, mine, wire, std::span<double>(x), 1);
        auto const before = wire.bytes_sent();  // of the comparison of settings
        for (std::size_t k = 0; goes_on(k, x); ++k) run.round();
        bytes += double(wire.bytes_sent() - before);
    });
    return bytes;
}

template <class C>
void measure(std::string const& set, std::string const& name, C const& compressor,
             std::vector<logistic_regression<>> const& f, double their_bytes) {
    auto const norms_of = [&](fednl<C> const& method) {
        std::vector<double> norms;  // in each round found by the first rank that comes to it
        run_while(method, f, [&](std::size_t k, std::vector<double> const& x) {
            if (norms.size() == k) norms.push_back(gradient_norm(f, x));
            return norms[k] > goal && k < most_rounds;
        });
        return norms;
    };
    fednl<C> const method{.compressor = compressor, .start_in_full = false};
    auto const norms = norms_of(method),
               as_in_paper = norms_of({.compressor = compressor, .fresh = false, .start_in_full = false});
    std::size_t const rounds = norms.size() - 1;
    auto const begin = std::chrono::steady_clock::now();
    double const bytes = run_while(method, f, [&](std::size_t k, auto const&) { return k < rounds; });
    std::chrono::duration<double> const passed = std::chrono::steady_clock::now() - begin;
    double const mib = 1 << 20;
    fmt::print("| {} ({}) | {} | {} | {} | {:.1f} | {:.1f} | {:.2f} | {:.1e} |\n", set, f[0].dimension(), name,
               as_in_paper.size() - 1, rounds, bytes / mib, their_bytes * clients * double(rounds) / mib,
               passed.count(), norms.back());
    std::fflush(stdout);
}

void measure_all(std::string const& folder, std::string const& set) {
    dataset<double> data;
    for (char const* const ending : {".xz", ".gz", ""}) {
        try {
            data = race::load(folder + "/" + set + ending, 0);
            break;
        } catch (file_error const&) {
            if (*ending == '\0') throw;
        }
    }
    binary_labels(data);
    if (set == "australian" || set == "splice") scale_features(data);
    std::vector<logistic_regression<>> f;
    data = data.first(data.samples() / clients * clients);
    for (int r = 0; r < clients; ++r) f.emplace_back(data.part(std::size_t(r), clients), lambda);
    double const d = double(f[0].dimension()), all = d * (d + 1) / 2, k = std::min(8 * d, all);
    measure(set, "topk", top_k<>{portion(k)}, f, 12 * k + 8 * d);
    measure(set, "randk", rand_k<>{portion(k)}, f, 8 * k + 8 * d);
    measure(set, "natural", natural{}, f, 1.5 * all + 8 * d);
    measure(set, "identical", identity{}, f, 8 * all + 8 * d);
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc < 2) {
        std::fputs("fednl FOLDER [SET...]\n", stderr);
        return 2;
    }
    std::vector<std::string> sets(argv + 2, argv + argc);
    if (sets.empty()) sets = {"a9a", "splice", "mushrooms", "australian"};
    fmt::print(
        "| data (d) | compressor | rounds, as in the paper | rounds | MiB | MiB in u-FedNL's formats | seconds | norm "
        "of grad f |\n");
    fmt::print("|---|---|---|---|---|---|---|---|\n");
    for (auto const& set : sets) measure_all(argv[1], set);
    return 0;
} catch (std::exception const& e) {
    std::fprintf(stderr, "fednl: %s\n", e.what());
    return 1;
}
