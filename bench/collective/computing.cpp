// SPDX-License-Identifier: Apache-2.0
//
// What the collectives of sparse vectors compute: all ranks in one thread, with nothing between them, so that what is
// left is selecting, adding, packing and unpacking. Beside it what the link needs for the bytes, as bench/collective
// has it: with as many cores as ranks both go on at the same time, with fewer the ranks share them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "data.hpp"
#include "laconic/collective/select/gtop_k.hpp"
#include "laconic/collective/select/ok_top_k.hpp"
#include "laconic/collective/select/spar_reduce_scatter.hpp"
#include "laconic/collective/sparse/gathered_sum.hpp"
#include "laconic/collective/sparse/recursive_doubling.hpp"
#include "laconic/collective/sparse/split_all_gather.hpp"
#include "laconic/collective/terms/sparse_sum.hpp"
#include "laconic/comm/delayed.hpp"
#include "laconic/comm/fibers.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/core/term.hpp"

namespace {

using namespace laconic;
using namespace laconic::bench;

struct options {
    double dimension = 25e6, density = 0.001, link = 1e9;
    int ranks = 8, rounds = 20;
};

class measurement {
  public:
    explicit measurement(options const& o) : o_(o), d_(static_cast<std::size_t>(o.dimension)) {
        k_ = portion{o.density}.of(d_);
        host on;
        for (int r = 0; r < o.ranks; ++r) {
            vec const x = numbers(r, d_);
            top_k<>::message<float, host> sent;
            top_k{k_}(on, std::span<float const>(x), key{}, sent);
            brought_.emplace_back(d_).assign(on, sent);
        }
    }

    void run() const {
        fmt::print(
            "{} ranks in one thread, the top {} of {} float32; least of {} rounds, in ms\n\n| collective | all ranks "
            "compute | one of them | on the link |\n|---|---|---|---|\n",
            o_.ranks, k_, d_, o_.rounds);
        auto const d = d_, k = k_;
        row("gathered_sum", [=](auto& comm) { return make_sum<float>(gathered_sum{}, comm, d); });
        row("gtop_k", [=](auto& comm) { return make_sum<float>(gtop_k{k}, comm, d); });
        row("spar_reduce_scatter", [=](auto& comm) {
            return make_sum<float>(spar_reduce_scatter{k, false, 7}, comm, d);
        });
        row("ok_top_k", [=](auto& comm) { return make_sum<float>(ok_top_k{k}, comm, d); });
        row("recursive_doubling", [=](auto& comm) { return make_sum<float>(recursive_doubling{}, comm, d); });
        row("split_all_gather", [=](auto& comm) { return make_sum<float>(split_all_gather{}, comm, d); });
    }

  private:
    // The processor time of this thread, in seconds: that of others on the machine does not count.
    static double computed() {
        timespec t{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
    }

    template <class Make>
    void row(char const* name, Make make) const {
        double least = 1e300, on_link = 0;
        fibers::run(o_.ranks, [&](fibers::member& comm) {
            host on;
            auto collective = make(comm);
            auto const& mine = brought_[static_cast<std::size_t>(comm.rank())];
            sparse_sum<float> v(d_);
            // The first round gets the memory, and is longer for some; the second is timed on the link.
            for (int round = -2; round < o_.rounds; ++round) {
                v = mine;
                comm.all_gather({});
                double const start = computed();
                if (round == -1) {
                    delayed timed(comm, {.seconds_per_bit = 1 / o_.link});
                    collective(on, timed, v, 0);
                    on_link = std::max(on_link, timed.clock());
                } else {
                    collective(on, comm, v, static_cast<std::uint64_t>(round + 2));
                }
                comm.all_gather({});
                if (round >= 0 && comm.rank() == 0) least = std::min(least, computed() - start);
            }
        });
        fmt::print("| `{}` | {:.3g} | {:.3g} | {:.3g} |\n", name, 1e3 * least, 1e3 * least / o_.ranks, 1e3 * on_link);
        std::fflush(stdout);
    }

    options o_;
    std::size_t d_, k_ = 0;
    std::vector<sparse_sum<float>> brought_;
};

}  // namespace

int main(int argc, char** argv) {
    options o;
    CLI::App app("What the collectives of sparse vectors compute.", "collective_computing");
    app.add_option("--dimension", o.dimension, "how many float32 a rank's vector has")
        ->check(CLI::Range(1.0, 1e9))
        ->capture_default_str();
    app.add_option("--density", o.density, "the part of them that top-k takes")->capture_default_str();
    app.add_option("--link", o.link, "in bits a second")->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--ranks", o.ranks, "how many there are")->check(CLI::Range(1, 64))->capture_default_str();
    app.add_option("--rounds", o.rounds, "how often each is measured")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    try {
        measurement(o).run();
    } catch (std::exception const& e) {
        fmt::print(stderr, "collective_computing: {}\n", e.what());
        return 2;
    }
    return 0;
}
