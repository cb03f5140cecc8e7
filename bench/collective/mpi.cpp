// SPDX-License-Identifier: Apache-2.0
//
// The collectives against MPI_Allreduce of the dense vector, in one run under mpirun: how long each takes, how many
// bytes it sends, and what these bytes alone would take on the link.
#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data.hpp"
#include "laconic/collective/automatic.hpp"
#include "laconic/collective/dense/engine_all_reduce.hpp"
#include "laconic/collective/dense/halving_doubling.hpp"
#include "laconic/collective/dense/omni_reduce.hpp"
#include "laconic/collective/dense/ring.hpp"
#include "laconic/collective/dense/switch_ml.hpp"
#include "laconic/collective/dense/two_shot.hpp"
#include "laconic/collective/select/gtop_k.hpp"
#include "laconic/collective/select/ok_top_k.hpp"
#include "laconic/collective/select/spar_reduce_scatter.hpp"
#include "laconic/collective/sparse/recursive_doubling.hpp"
#include "laconic/collective/sparse/split_all_gather.hpp"
#include "laconic/comm/delayed.hpp"
#include "laconic/comm/metered.hpp"
#include "laconic/comm/mpi.hpp"
#include "laconic/comm/recorded.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/compress/threshold.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/transport/gathered.hpp"
#include "open_mpi.hpp"
#include "options.hpp"
#include "table.hpp"

namespace {

using namespace laconic;
using namespace laconic::bench;

class measurement {
  public:
    measurement(mpi_options const& o, mpi::member& comm) : o_(o), comm_(comm), out_(comm.rank()) {
        x_ = numbers(comm.rank(), o.d());
    }

    bool run() {
        out_.say(setting(comm_.size(), o_.d(), o_.link));
        auto const d = o_.d();
        warm_up();
        out_.head("Dense vectors");
        dense_by_mpi();
        in_place([&](auto run) {
            run("ring", [=](auto& comm) { return make_sum<float>(ring{}, comm, d); });
            run("halving_doubling", [=](auto& comm) { return make_sum<float>(halving_doubling{}, comm, d); });
            run("switch_ml", [=](auto& comm) { return make_sum<float>(switch_ml{}, comm, d); });
        });
        rounded("two_shot(bf16)", bf16::random{});
        rounded("two_shot(uniform(8))", uniform{8});
        rounded("two_shot(uniform(4))", uniform{4});

        auto const k = portion{o_.density}.of(d);
        out_.head(fmt::format("The top {} of them", k));
        sparse(top_k{k}, [&](auto run) {
            run("gtop_k", true, [=](auto& comm) { return make_sum<float>(gtop_k{k}, comm, d); });
            run("spar_reduce_scatter", true, [=](auto& comm) {
                return make_sum<float>(spar_reduce_scatter{k, false, 7}, comm, d);
            });
            run("ok_top_k", true, [=](auto& comm) { return make_sum<float>(ok_top_k{k}, comm, d); });
            run("automatic", false,
                [=, this](auto& comm) { return make_sum<float>(automatic{.net = link()}, comm, d); });
            run("recursive_doubling", false,
                [=](auto& comm) { return make_sum<float>(recursive_doubling{}, comm, d); });
            run("split_all_gather", false, [=](auto& comm) { return make_sum<float>(split_all_gather{}, comm, d); });
        });

        for (double const zeros : o_.zeros) {
            out_.head(fmt::format("{:.4g} % of the blocks of {} are zero", 100 * zeros, o_.block));
            clear_blocks(comm_.rank(), zeros, o_.block, x_);
            in_place([&](auto run) {
                run("automatic", [=, this](auto& comm) { return make_sum<float>(automatic{.net = link()}, comm, d); });
                run("omni_reduce", [=, this](auto& comm) { return make_sum<float>(omni_reduce{o_.block}, comm, d); });
            });
            sparse(zero_blocks{o_.block}, [&](auto run) {
                run("recursive_doubling", false,
                    [=](auto& comm) { return make_sum<float>(recursive_doubling{}, comm, d); });
                run("split_all_gather(sparse)", false,
                    [=](auto& comm) { return make_sum<float>(split_all_gather{}, comm, d); });
                run("split_all_gather(dense)", false, [=](auto& comm) {
                    return make_sum<float>(split_all_gather{split_all_gather::second_stage::dense}, comm, d);
                });
            });
            x_ = numbers(comm_.rank(), o_.d());
        }
        return right_;
    }

  private:
    network link() const { return {.seconds_per_bit = o_.link == 0 ? 0 : 1 / o_.link}; }

    // Not timed: connections of everybody with everybody are new, and widen with use, and so is the memory of what
    // waits in them. The first rounds of a run take up to twice as long as those that follow, by whichever collective.
    void warm_up() {
        auto collective = make_sum<float>(omni_reduce{o_.block}, comm_, o_.d());
        vec sum = x_;
        for (std::uint64_t round = 0; round < 8; ++round) collective(on_, comm_, std::span<float>(sum = x_), round);
    }
    // What one call sends: bytes at the busiest port, and seconds on the link with nothing else to do; and how long it
    // takes to say as often nothing.
    template <class Call>
    void weigh(row& r, Call call) {
        delayed timed(comm_, link());
        metered counted(timed);
        recorded written(counted);
        call(written);
        r.megabytes = largest(1e-6 * static_cast<double>(std::max(counted.bytes_sent(), counted.bytes_received())));
        r.on_link = largest(timed.clock());
        r.empty = time(
                      o_, [] {},
                      [&](std::uint64_t) {
                          for (auto const& d : written.log())
                              if (d.to != log_entry::everyone)
                                  comm_.exchange(d.to, {}, d.from);
                              else if (d.meanwhile)
                                  comm_.start_all_gather({}), comm_.finish();
                              else
                                  comm_.all_gather({});
                      })
                      .least;
    }
    // The same for the sum of dense vectors, of which no rank can send or receive less (Patarasuk, Yuan, 2009).
    void take_least(row& r, int bits = 32) const {
        double const p = comm_.size(), bytes = bits / 4 * (p - 1) / p * o_.dimension;
        r.megabytes = 1e-6 * bytes;
        r.on_link = 8 * bytes * link().seconds_per_bit;
    }
    void print(row const& r) {
        right_ = right_ && r.right;
        out_.add(r, mpi_, mpi16_);
    }

    // Each of Open MPI's algorithms, called plainly and by the library, which adds a barrier and two looks at x.
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
            print(r);
            sixteen_bits(number);
            mpi::member chosen(MPI_COMM_WORLD);
            dense(fmt::format("engine_all_reduce, {}", algorithms[number]), sum, chosen,
                  [&](auto& comm) { return make_sum<float>(engine_all_reduce{}, comm, o_.d()); });
        }
        choose("coll_tuned_allreduce_algorithm", 0);
    }

    // As many integers of 16 bits, of which MPI has sums: no sum of 16-bit floating-point numbers, which also rounds,
    // takes less by the same algorithm.
    void sixteen_bits(int number) {
        std::vector<std::int16_t> const mine(o_.d(), 1);
        auto sum = mine;
        MPI_Comm all = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &all);
        row r{fmt::format("MPI_Allreduce of 16-bit integers, {}", algorithms[number])};
        take_least(r, 16);
        r.alone = r.all = time(
            o_, [] {},
            [&](std::uint64_t) {
                MPI_Allreduce(mine.data(), sum.data(), static_cast<int>(o_.d()), MPI_INT16_T, MPI_SUM, all);
            });
        MPI_Comm_free(&all);
        mpi16_ = mpi16_ == 0 ? r.all.median : std::min(mpi16_, r.all.median);
        print(r);
    }

    // Of dense vectors whose numbers travel rounded. What is applied and what the ranks keep is what they brought, up
    // to the rounding of float.
    template <Compressor<float> C>
    void rounded(std::string const& name, C compressor) {
        if (!o_.wants(name)) return;
        row r{name};
        auto collective = make_sum<float>(two_shot{compressor}, comm_, o_.d());
        vec const wanted = dense_sum(x_);
        vec sum = x_;
        weigh(r, [&](auto& other) { collective(on_, other, std::span<float>(sum = x_)); });
        auto const left = collective.leftover();
        vec const kept = dense_sum(vec(left.begin(), left.end()));
        bool right = true;
        for (std::size_t i = 0; i < sum.size(); ++i)
            right = right && std::abs(sum[i] + kept[i] - wanted[i]) <= 1e-4f * (1 + std::abs(wanted[i]));
        r.right = on_all(right);
        r.alone = time(
            o_, [&] { sum = x_; },
            [&](std::uint64_t round) {
                collective(on_, comm_, std::span<float>(sum), sum_round{round, nullptr, false});
            });
        // In training its leftover is kept as the residual, which the next vector is added to.
        r.all = time(
            o_, [] {},
            [&](std::uint64_t round) {
                auto const residual = collective.leftover();
                for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = x_[i] + residual[i];
                collective(on_, comm_, std::span<float>(sum), round);
            });
        print(r);
    }

    template <class Each>
    void in_place(Each each) {
        vec const wanted = dense_sum(x_);
        each([&](std::string const& name, auto make) { dense(name, wanted, comm_, make); });
    }
    // Of vectors in full, in place. What a collective looks for in x_ and adds to it is part of it.
    template <class Make>
    void dense(std::string const& name, vec const& wanted, mpi::member& comm, Make make) {
        if (!o_.wants(name)) return;
        row r{name};
        auto collective = make(comm);
        vec sum = x_;
        using timed = recorded<metered<delayed<mpi::member>>>;
        if constexpr (std::invocable<decltype(collective)&, host&, timed&, std::span<float>>) {
            weigh(r, [&](auto& other) { collective(on_, other, std::span<float>(sum)); });
        } else {  // the engine's own: at least what a dense sum takes
            collective(on_, comm, std::span<float>(sum));
            take_least(r);
        }
        r.right = on_all(sum == wanted);
        r.alone = r.all = time(
            o_, [&] { sum = x_; }, [&](std::uint64_t round) { collective(on_, comm, std::span<float>(sum), round); });
        print(r);
    }

    // each(run) calls run(name, whether it leaves some out, make(comm)) for each collective of what the compressor
    // says.
    template <class Compressor, class Each>
    void sparse(Compressor const& select, Each each) {
        using message = typename Compressor::template message<float, host>;
        message sent;
        select(on_, std::span<float const>(x_), key{}, sent);
        sparse_sum<float> mine(o_.d()), v(o_.d());
        mine.assign(on_, sent);
        vec whole(o_.d());
        add(mine, whole);
        vec const wanted = dense_sum(whole);
        gather<message>(select, wanted);
        each([&](std::string const& name, bool leaves_out, auto make) {
            if (!o_.wants(name)) return;
            row r{name};
            auto collective = make(comm_);
            if (leaves_out) {  // the first round of some is longer
                v = mine;
                collective(on_, comm_, v);
            }
            v = mine;
            weigh(r, [&](auto& comm) { collective(on_, comm, v); });
            std::fill(whole.begin(), whole.end(), 0.0f);
            if (leaves_out) {  // what is applied, once, and what is returned, everywhere, are what was brought
                if (comm_.rank() == 0) add(v, whole);
                if constexpr (requires { collective.leftover(); }) add(collective.leftover(), whole);
                whole = dense_sum(std::move(whole));
            } else {
                add(v, whole);
            }
            r.right = on_all(whole == wanted);
            r.alone = time(
                o_, [&] { v = mine; }, [&](std::uint64_t round) { collective(on_, comm_, v, round); });
            // As a round of training: of a long vector those that count, and their sum into another that is there.
            r.all = time(
                o_, [] {},
                [&](std::uint64_t round) {
                    select(on_, std::span<float const>(x_), key{}, sent);
                    v.assign(on_, sent);
                    collective(on_, comm_, v, round);
                    add(v, whole);
                    if constexpr (requires { collective.leftover(); }) add(collective.leftover(), whole);
                });
            print(r);
        });
    }
    void add(sparse_sum<float> const& v, std::span<float> out) { add_message(on_, out, 1.0f, v.message()); }

    template <class M, class Compressor>
    void gather(Compressor const& select, vec const& wanted) {
        if (!o_.wants("gather_all")) return;
        row r{"gather_all"};
        detail::gathered<M, float> collective({}, o_.d(), position_code::smallest);
        detail::failure const none;
        wire::by_host<M, host> encoding;
        wire::bit_writer sink;
        M sent, theirs;
        vec mean(o_.d());
        auto const blank = [&](auto&, int, M& m) { return select.blank(on_, o_.d(), key{}, m), select; };
        // Alone as the others: until all that is to be added is there.
        auto const talk = [&](auto& comm) {
            comm.all_gather(detail::written<float>(sink, o_.d(), encoding, on_, sent));
            for (int i = 0; i < comm.size(); ++i) detail::read_from(on_, comm, i, blank, encoding, theirs);
        };
        auto const talk_and_add = [&] {
            collective.send(on_, comm_, {}, sent, none);
            collective.receive(on_, comm_, {}, sent, none, blank, nullptr, std::span<float>(mean));
        };
        auto const choose_them = [&] { select(on_, std::span<float const>(x_), key{}, sent); };
        choose_them();
        weigh(r, talk);
        talk_and_add();
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
                talk_and_add();
            });
        print(r);
    }

    mpi_options o_;
    mpi::member& comm_;
    table out_;
    host on_;
    vec x_;
    double mpi_ = 0, mpi16_ = 0;  // seconds of the best MPI_Allreduce, of float32 and of numbers of 16 bits
    bool right_ = true;
};

}  // namespace

int main(int argc, char** argv) {
    // Open MPI's algorithms can be chosen at run time where that is set before it starts.
    setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 0);
    int result = 0;
    mpi::run(argc, argv, [&](mpi::member& comm) {
        mpi_options o;
        CLI::App app("The collectives against MPI_Allreduce of the dense vector.", "collective");
        o.parse(app);
        try {
            app.parse(argc, argv);
            o.check();
        } catch (CLI::ParseError const& e) {
            result = e.get_exit_code() == 0 ? 0 : 2;
            if (comm.rank() == 0) app.exit(e);
            return;
        } catch (argument_error const& e) {
            result = 2;
            if (comm.rank() == 0) fmt::print(stderr, "collective: {}\n", e.what());
            return;
        }
        if (!measurement(o, comm).run()) result = 1;
    });
    return result;
}
