// SPDX-License-Identifier: Apache-2.0
//
// The exchanges against MPI_Allreduce of the dense vector, in one run under mpirun: how long each takes, how many bytes
// it says, and what these bytes alone would take on the link.
#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/comm/delayed.hpp"
#include "laconic/comm/metered.hpp"
#include "laconic/comm/mpi.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/compress/zero_blocks.hpp"
#include "laconic/exchange/automatic.hpp"
#include "laconic/exchange/by_gather.hpp"
#include "laconic/exchange/engine_all_reduce.hpp"
#include "laconic/exchange/gtop_k.hpp"
#include "laconic/exchange/halving_doubling.hpp"
#include "laconic/exchange/ok_top_k.hpp"
#include "laconic/exchange/omni_reduce.hpp"
#include "laconic/exchange/recursive_doubling.hpp"
#include "laconic/exchange/ring.hpp"
#include "laconic/exchange/spar_reduce_scatter.hpp"
#include "laconic/exchange/split_all_gather.hpp"

namespace {

using namespace laconic;
using vec = std::vector<float>;

// Open MPI's, by its own numbers.
constexpr char const* algorithms[] = {"as it chooses", "linear",         "reduce and broadcast", "recursive doubling",
                                      "ring",          "segmented ring", "Rabenseifner"};

struct options {
    double dimension = 25e6, density = 0.001, link = 0, seconds = 3;
    std::vector<double> zeros = {0.99, 0.6};
    std::size_t block = 256;
    std::vector<int> algorithms = {0, 3, 4, 5, 6};
    std::vector<std::string> only;

    std::size_t d() const { return static_cast<std::size_t>(dimension); }
    bool wants(std::string const& name) const {
        return only.empty() ||
               std::any_of(only.begin(), only.end(), [&](auto const& o) { return name.compare(0, o.size(), o) == 0; });
    }
};

void parse(CLI::App& app, options& o) {
    app.add_option("--dimension", o.dimension, "how many float32 a rank's vector has")->capture_default_str();
    app.add_option("--density", o.density, "the part of them that top-k takes")->capture_default_str();
    app.add_option("--zeros", o.zeros, "the parts of blocks that are zero, for the exchanges of blocks")
        ->expected(0, 8)
        ->capture_default_str();
    app.add_option("--block", o.block, "how many numbers a block has")->capture_default_str();
    app.add_option("--seconds", o.seconds, "how long each is measured, and three times at least")
        ->capture_default_str();
    app.add_option("--algorithms", o.algorithms, "Open MPI's for MPI_Allreduce, by its numbers; 0 is as it chooses")
        ->capture_default_str();
    app.add_option("--link", o.link, "what each rank's link carries in either direction, in bits a second");
    app.add_option("--only", o.only, "only what begins with one of these names, beside the dense MPI_Allreduce");
}

void check(options const& o) {
    if (!(o.dimension >= 1 && o.dimension <= 1e9 && o.dimension == std::floor(o.dimension)))
        throw argument_error(fmt::format("--dimension: {} is no whole number from 1 to 1e9", o.dimension));
    portion{o.density}.check(o.d());
    for (double const z : o.zeros)
        if (!(z >= 0 && z <= 1)) throw argument_error(fmt::format("--zeros: {} is not between 0 and 1", z));
    if (o.block < 1) throw argument_error("--block: a block has at least one number");
    if (!(o.seconds >= 0)) throw argument_error(fmt::format("--seconds: {} is not at least 0", o.seconds));
    for (int const a : o.algorithms)
        if (a < 0 || a >= static_cast<int>(std::size(algorithms)))
            throw argument_error(fmt::format("--algorithms: Open MPI has 0 to {}", std::size(algorithms) - 1));
    if (!(o.link >= 0)) throw argument_error(fmt::format("--link: {} bits a second", o.link));
}

double largest(double mine) {
    double all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

// Seconds that the slowest rank needs for what(round), again and again; before() is not timed, nor the first of all,
// which gets its memory.
struct times {
    double median = 0, least = 0;
};
template <class Before, class What>
times time(options const& o, Before before, What what) {
    std::vector<double> seconds;
    double sum = 0;
    for (std::uint64_t round = 0; seconds.size() < 3 || (sum < o.seconds && seconds.size() < 200); ++round) {
        before();
        MPI_Barrier(MPI_COMM_WORLD);
        double const start = MPI_Wtime();
        what(round);
        double const slowest = largest(MPI_Wtime() - start);
        if (round == 0) continue;
        seconds.push_back(slowest);
        sum += slowest;
    }
    std::sort(seconds.begin(), seconds.end());
    return {seconds[seconds.size() / 2], seconds[0]};
}

// Laplace's distribution, on a grid on which the sums of up to 64 ranks are exact in any order: so they can be compared
// to the bit.
vec numbers(key from, std::size_t d) {
    vec x(d);
    for (std::size_t i = 0; i < d; ++i) {
        auto const word = from.word(i);
        double const magnitude = -std::log((static_cast<double>(word >> 1) + 0.5) * 0x1p-31);
        x[i] = static_cast<float>(std::round(magnitude * 8192) / 8192 * ((word & 1) != 0 ? 1 : -1));
    }
    return x;
}
void clear_blocks(key from, double zeros, std::size_t block, std::span<float> x) {
    for (std::size_t first = 0; first < x.size(); first += block)
        if (from.uniform(first / block) < zeros)
            std::fill_n(x.begin() + static_cast<std::ptrdiff_t>(first), std::min(block, x.size() - first), 0.0f);
}

// The sum by MPI in the job's own way, in pieces that need not be as long as the vector once more.
vec dense_sum(vec x) {
    MPI_Allreduce(MPI_IN_PLACE, x.data(), static_cast<int>(x.size()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    return x;
}

struct row {
    std::string name;
    double megabytes = 0;  // what the busiest port takes in or gives out
    double on_link = 0;    // seconds that the bytes need there, one after another as the schedule has them
    times alone{}, all{};  // without and with selection and accumulation
    bool right = true;
};

class table {
  public:
    explicit table(int rank) : rank_(rank) {}

    void head(std::string const& what) const {
        if (rank_ != 0) return;
        fmt::print(
            "\n{}\n\n| exchange | MB | on the link | alone | least | / link | with selection and sum | least | MPI / "
            "it "
            "|\n|---|---|---|---|---|---|---|---|---|\n",
            what);
        std::fflush(stdout);
    }
    void add(row const& r, double mpi) const {
        if (rank_ != 0) return;
        auto const ms = [](double s) { return s == 0 ? std::string() : fmt::format("{:.3g}", 1e3 * s); };
        auto const ratio = [](double a, double b) { return b == 0 ? std::string() : fmt::format("{:.2f}", a / b); };
        fmt::print("| `{}` | {:.4g} | {} | {} | {} | {} | {} | {} | {} |{}\n", r.name, r.megabytes, ms(r.on_link),
                   ms(r.alone.median), ms(r.alone.least), ratio(r.alone.least, r.on_link), ms(r.all.median),
                   ms(r.all.least), ratio(mpi, r.all.median), r.right ? "" : " WRONG SUM");
        std::fflush(stdout);
    }

  private:
    int rank_;
};

class bench {
  public:
    bench(options const& o, mpi::member& comm) : o_(o), comm_(comm), out_(comm.rank()) {
        x_ = numbers(key{1}.child(rank()), o.d());
    }

    bool run() {
        int const p = comm_.size();
        if (comm_.rank() == 0)
            fmt::print("{} ranks, {} float32{}; times in ms\n", p, o_.d(),
                       o_.link == 0 ? "" : fmt::format(", links of {:.4g} Mbit/s", o_.link / 1e6));
        out_.head("Dense vectors");
        dense_by_mpi();
        auto const d = o_.d();
        in_place([&](auto run) {
            run("engine_all_reduce", [=](auto& comm) { return engine_all_reduce<float>(comm, d); });
            run("ring", [=](auto& comm) { return ring<float>(comm, d); });
            run("halving_doubling", [=](auto& comm) { return halving_doubling<float>(comm, d); });
        });

        auto const k = portion{o_.density}.of(d);
        out_.head(fmt::format("The top {} of them", k));
        sparse(top_k{k}, [&](auto run) {
            run("gtop_k", true, [=](auto& comm) { return gtop_k<float>(comm, d, k); });
            run("spar_reduce_scatter", true,
                [=](auto& comm) { return spar_reduce_scatter<float>(comm, d, k, key{7}); });
            run("ok_top_k", true, [=](auto& comm) { return ok_top_k<float>(comm, d, k); });
            run("automatic", false, [=, this](auto& comm) { return automatic<float>(comm, d, {.net = link()}); });
            run("recursive_doubling", false, [=](auto& comm) { return recursive_doubling<float>(comm, d); });
            run("split_all_gather", false, [=](auto& comm) { return split_all_gather<float>(comm, d); });
        });

        for (double const zeros : o_.zeros) {
            out_.head(fmt::format("{:.4g} % of the blocks of {} are zero", 100 * zeros, o_.block));
            clear_blocks(key{2}.child(rank()), zeros, o_.block, x_);
            in_place([&](auto run) {
                run("automatic", [=, this](auto& comm) { return automatic<float>(comm, d, {.net = link()}); });
                run("omni_reduce", [=, this](auto& comm) { return omni_reduce<float>(comm, d, o_.block); });
            });
            sparse(zero_blocks{o_.block}, [&](auto run) {
                run("recursive_doubling", false, [=](auto& comm) { return recursive_doubling<float>(comm, d); });
                run("split_all_gather(sparse)", false, [=](auto& comm) { return split_all_gather<float>(comm, d); });
                run("split_all_gather(dense)", false,
                    [=](auto& comm) { return split_all_gather<float>(comm, d, second_stage::dense); });
            });
            x_ = numbers(key{1}.child(rank()), o_.d());
        }
        return right_;
    }

  private:
    std::uint64_t rank() const { return static_cast<std::uint64_t>(comm_.rank()); }
    network link() const { return {.seconds_per_bit = o_.link == 0 ? 0 : 1 / o_.link}; }

    // What one call says: bytes at the busiest port, and seconds on the link with nothing else to do.
    template <class Call>
    void weigh(row& r, Call call) {
        delayed timed(comm_, link());
        metered counted(timed);
        call(counted);
        r.megabytes = largest(1e-6 * static_cast<double>(std::max(counted.bytes_sent(), counted.bytes_received())));
        r.on_link = largest(timed.clock());
    }
    // The same for the sum of dense vectors, of which no rank can say or hear less (Patarasuk, Yuan, 2009).
    void take_least(row& r) const {
        double const p = comm_.size(), bytes = 8 * (p - 1) / p * o_.dimension;
        r.megabytes = 1e-6 * bytes;
        r.on_link = 8 * bytes * link().seconds_per_bit;
    }
    bool on_all(bool mine) { return largest(mine ? 0 : 1) == 0; }
    void tell(row const& r) {
        right_ = right_ && r.right;
        out_.add(r, mpi_);
    }

    // Open MPI reads the algorithm when a communicator is made, through MPI's own interface for tools.
    static bool choose(char const* variable, int value) {
        int provided = 0, index = 0, count = 0;
        if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return false;
        MPI_T_cvar_handle handle{};
        bool const done = MPI_T_cvar_get_index(variable, &index) == MPI_SUCCESS &&
                          MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) == MPI_SUCCESS &&
                          MPI_T_cvar_write(handle, &value) == MPI_SUCCESS;
        if (handle != MPI_T_cvar_handle{}) MPI_T_cvar_handle_free(&handle);
        MPI_T_finalize();
        return done;
    }
    void dense_by_mpi() {
        vec sum(o_.d());
        for (int const number : o_.algorithms) {
            if (!choose("coll_tuned_allreduce_algorithm", number) && number != 0) continue;
            choose("coll_tuned_allreduce_algorithm_segmentsize", number == 5 ? 1 << 20 : 0);
            MPI_Comm all = MPI_COMM_NULL;
            MPI_Comm_dup(MPI_COMM_WORLD, &all);
            row r{fmt::format("MPI_Allreduce, {}", algorithms[number])};
            take_least(r);
            r.alone = r.all = time(
                o_, [] {},
                [&](std::uint64_t) {
                    MPI_Allreduce(x_.data(), sum.data(), static_cast<int>(o_.d()), MPI_FLOAT, MPI_SUM, all);
                });
            MPI_Comm_free(&all);
            mpi_ = mpi_ == 0 ? r.all.median : std::min(mpi_, r.all.median);
            tell(r);
        }
        choose("coll_tuned_allreduce_algorithm", 0);
    }

    template <class Each>
    void in_place(Each each) {
        vec const wanted = dense_sum(x_);
        each([&](std::string const& name, auto make) { dense(name, wanted, make); });
    }
    // Of vectors in full, in place. What an exchange looks for in x_ and adds to it is part of it.
    template <class Make>
    void dense(std::string const& name, vec const& wanted, Make make) {
        if (!o_.wants(name)) return;
        row r{name};
        auto exchange = make(comm_);
        vec sum = x_;
        using timed = metered<delayed<mpi::member>>;
        if constexpr (std::invocable<decltype(exchange)&, host&, timed&, std::span<float>>) {
            weigh(r, [&](auto& comm) { exchange(on_, comm, std::span<float>(sum)); });
        } else {  // the engine's own: at least what a dense sum takes
            exchange(on_, comm_, std::span<float>(sum));
            take_least(r);
        }
        r.right = on_all(sum == wanted);
        r.alone = r.all = time(
            o_, [&] { sum = x_; }, [&](std::uint64_t round) { exchange(on_, comm_, std::span<float>(sum), round); });
        tell(r);
    }

    // each(run) calls run(name, whether it leaves some out, make(comm)) for each exchange of what the compressor says.
    template <class Compressor, class Each>
    void sparse(Compressor const& select, Each each) {
        using message = typename Compressor::template message<float, host>;
        message said;
        select(on_, std::span<float const>(x_), key{}, said);
        sparse_sum<float> mine(o_.d()), v(o_.d());
        mine.assign(said);
        vec whole(o_.d());
        add(mine, whole);
        vec const wanted = dense_sum(whole);
        gather<message>(select, wanted);
        each([&](std::string const& name, bool leaves_out, auto make) {
            if (!o_.wants(name)) return;
            row r{name};
            auto exchange = make(comm_);
            if (leaves_out) {  // the first round of some is longer
                v = mine;
                exchange(on_, comm_, v);
            }
            v = mine;
            weigh(r, [&](auto& comm) { exchange(on_, comm, v); });
            std::fill(whole.begin(), whole.end(), 0.0f);
            if (leaves_out) {  // what is applied, once, and what is returned, everywhere, are what was brought
                if (comm_.rank() == 0) add(v, whole);
                if constexpr (requires { exchange.returned(); }) add(exchange.returned(), whole);
                whole = dense_sum(std::move(whole));
            } else {
                add(v, whole);
            }
            r.right = on_all(whole == wanted);
            r.alone = time(
                o_, [&] { v = mine; }, [&](std::uint64_t round) { exchange(on_, comm_, v, round); });
            // As a round of training: of a long vector those that count, and their sum into another that is there.
            r.all = time(
                o_, [] {},
                [&](std::uint64_t round) {
                    select(on_, std::span<float const>(x_), key{}, said);
                    v.assign(said);
                    exchange(on_, comm_, v, round);
                    add(v, whole);
                    if constexpr (requires { exchange.returned(); }) add(exchange.returned(), whole);
                });
            tell(r);
        });
    }
    void add(sparse_sum<float> const& v, std::span<float> out) { add_message(on_, out, 1.0f, v.message()); }

    template <class M, class Compressor>
    void gather(Compressor const& select, vec const& wanted) {
        if (!o_.wants("by_gather")) return;
        row r{"by_gather"};
        by_gather<M, float> exchange;
        M said;
        vec mean(o_.d());
        auto const blank = [&](int, M& m) { select.blank(on_, o_.d(), key{}, m); };
        auto const talk = [&](auto& comm) {
            exchange.say(comm, said, o_.d());
            exchange.hear(
                on_, comm, blank, [](int, std::span<std::byte const>) {}, std::span<float>(mean));
        };
        auto const choose_them = [&] { select(on_, std::span<float const>(x_), key{}, said); };
        choose_them();
        weigh(r, talk);
        auto const p = static_cast<float>(comm_.size());
        bool right = true;
        for (std::size_t i = 0; i < mean.size(); ++i)
            right = right && std::abs(mean[i] * p - wanted[i]) <= 1e-4f * (1 + std::abs(wanted[i]));
        r.right = on_all(right);
        r.alone = time(
            o_, [] {}, [&](std::uint64_t) { talk(comm_); });
        r.all = time(
            o_, [] {},
            [&](std::uint64_t) {
                choose_them();
                talk(comm_);
            });
        tell(r);
    }

    options o_;
    mpi::member& comm_;
    table out_;
    host on_;
    vec x_;
    double mpi_ = 0;  // seconds of the best MPI_Allreduce
    bool right_ = true;
};

}  // namespace

int main(int argc, char** argv) {
    // Open MPI's algorithms can be chosen at run time where it is told so before it starts.
    setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 0);
    int result = 0;
    mpi::run(argc, argv, [&](mpi::member& comm) {
        options o;
        if (char const* const rate = std::getenv("LACONIC_LINK")) o.link = std::atof(rate);
        CLI::App app("The exchanges against MPI_Allreduce of the dense vector.", "exchange");
        parse(app, o);
        try {
            app.parse(argc, argv);
            check(o);
        } catch (CLI::ParseError const& e) {
            result = e.get_exit_code() == 0 ? 0 : 2;
            if (comm.rank() == 0) app.exit(e);
            return;
        } catch (argument_error const& e) {
            result = 2;
            if (comm.rank() == 0) fmt::print(stderr, "exchange: {}\n", e.what());
            return;
        }
        if (!bench(o, comm).run()) result = 1;
    });
    return result;
}
