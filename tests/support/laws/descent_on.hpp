// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/comm/fibers.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/core/error.hpp"
#include "laconic/descent.hpp"
#include "laconic/optim/step.hpp"
#include "laconic/transport/served.hpp"
#include "support/test.hpp"

/// Whole runs on a backend: iterate, gradient and memories live there.
namespace laws {

/// |x - c_r|^2 / 2 for rank r, worked out by the backend's kernels.
template <class B>
class distance_to_own {
  public:
    using numbers = std::vector<double>;

    distance_to_own(std::size_t d, int rank) : center_(d) {
        numbers c(d);
        for (std::size_t i = 0; i < d; ++i) c[i] = laconic::key{5}.child(std::uint64_t(rank)).uniform(i) - 0.5;
        copy_from_host(on_, std::span<double const>(c), std::span<double>(center_));
    }
    std::size_t dimension() const { return center_.size(); }
    void move_center(std::size_t i, double to) {
        copy_from_host(on_, std::span<double const>(&to, 1), std::span<double>(center_).subspan(i, 1));
    }
    double value(std::span<double const> x) const {
        typename B::template array<double> g(x.size());
        gradient(x, g);
        return sum_of_squares(on_, std::span<double const>(g)) / 2;
    }
    void gradient(std::span<double const> x, std::span<double> g) const {
        copy(on_, x, g);
        add_scaled(on_, -1.0, std::span<double const>(center_), g);
    }

  private:
    mutable B on_;
    typename B::template array<double> center_;
};

/// The iterates of all rounds, on the host, one after another, as this rank has them.
template <class B, class R, class C>
std::vector<double> iterates_of(R const& method, C& comm, B& on, std::size_t d, std::uint64_t rounds) {
    using namespace laconic;
    std::vector<double> all;
    distance_to_own<B> const f(d, comm.rank());
    typename B::template array<double> x(d);
    descent<R, distance_to_own<B>, C, double, B> run(method, f, comm, std::span<double>(x), 1, on);
    for (std::uint64_t round = 0; round < rounds; ++round) {
        run.round();
        all.resize(all.size() + d);
        copy_to_host(on, std::span<double const>(x), std::span<double>(all).last(d));
    }
    return all;
}
/// As the last rank has them.
template <class B, class R>
std::vector<double> iterates(R const& method, int ranks, std::size_t d, std::uint64_t rounds) {
    std::vector<double> all;
    laconic::fibers::run(ranks, [&](laconic::fibers::member& comm) {
        B on;
        auto const mine = iterates_of<B>(method, comm, on, d, rounds);
        if (comm.rank() + 1 == ranks) all = mine;
    });
    return all;
}

/// Error correction and momentum, and a server that compresses its answer.
template <class B>
auto with_server() {
    using namespace laconic;
    using feedback = memory<double, B>;
    using step = momentum<double, B>;
    return recursion<top_k<quantize>, feedback, step, fixed_level, mini_batch, served<quantize, double, B>>{
        top_k{10} | quantize{7}, feedback(0.5, true), step{0.05, 0.5}, {}, {}, {quantize{15, 30}, feedback(0.5)}};
}

inline constexpr std::size_t length = 60;

/// What runs of each kind come to on B.
template <class B>
std::map<std::string, std::vector<double>> each_run() {
    using namespace laconic;
    using feedback = memory<double, B>;
    std::map<std::string, std::vector<double>> all;
    for (int const ranks : {1, 3, 7})
        for (std::size_t const d : {std::size_t{1}, length}) {
            recursion<top_k<>, feedback> const r{top_k{std::min<std::size_t>(6, d)}, feedback(0, true), {0.1}};
            all["error correction, " + std::to_string(ranks) + " ranks, " + std::to_string(d) + " numbers"] =
                iterates<B>(r, ranks, d, 20);
        }
    recursion<quantize, feedback> const differences{quantize{3, 20}, feedback(0.25), {0.2}};
    all["difference compression"] = iterates<B>(differences, 4, length, 300);
    recursion<rand_k<>, feedback> const drawn{rand_k{6}, feedback(0.1), {0.1}};
    all["places that all ranks draw"] = iterates<B>(drawn, 3, length, 20);
    all["a server, and momentum"] = iterates<B>(with_server<B>(), 3, length, 20);
    return all;
}
/// The same on the host; not compiled anew for every backend.
std::map<std::string, std::vector<double>> each_run_on_the_host();

using states = std::vector<std::vector<std::byte>>;

/// The states of all ranks after that many more rounds, from what was saved on; from the start where there is none.
template <class B>
states saved_after(std::uint64_t rounds, states const& from = {}) {
    using namespace laconic;
    using numbers = typename B::template array<double>;
    states all(3);
    fibers::run(3, [&](fibers::member& comm) {
        auto const rank = static_cast<std::size_t>(comm.rank());
        distance_to_own<B> const f(length, comm.rank());
        numbers x(length);
        descent<decltype(with_server<B>()), distance_to_own<B>, fibers::member, double, B> run(
            with_server<B>(), f, comm, std::span<double>(x), 1);
        if (!from.empty()) {
            auto damaged = from[rank];
            damaged[damaged.size() / 2] ^= std::byte{1};
            CHECK_THROWS_AS(run.restore(damaged), wire_error);
            CHECK(x == numbers(length));
            run.restore(from[rank]);
        }
        for (std::uint64_t round = 0; round < rounds; ++round) run.round();
        all[rank] = run.save();
    });
    return all;
}
states saved_on_the_host_after(std::uint64_t rounds, states const& from = {});

/// Runs on B come to the same iterates as on the host, to the bit.
template <class B>
void runs_as_on_the_host() {
    using namespace laconic;
    constexpr std::size_t d = length;
    SUBCASE("iterates are the host's") {
        auto here = each_run_on_the_host(), there = each_run<B>();
        CHECK(here.size() == 9);
        for (auto const& [kind, numbers] : here) {
            auto const& name = kind;  // as a reference, for CAPTURE
            CAPTURE(name);
            CHECK(there[name] == numbers);
        }
        // Many messages and no error: the last iterate is the minimum, the mean of the centers.
        auto const& all = there["difference compression"];
        REQUIRE(all.size() == 300 * d);
        for (std::size_t i = 0; i < d; ++i) {
            double mean = 0;
            for (std::uint64_t r = 0; r < 4; ++r) mean += (key{5}.child(r).uniform(i) - 0.5) / 4;
            CHECK(all[299 * d + i] == doctest::Approx(mean).epsilon(1e-6));
        }
    }
    SUBCASE("a gradient that is not finite on one rank ends the round on all, and nothing has changed") {
        using feedback = memory<double, B>;
        using method = recursion<top_k<>, feedback>;
        method const r{top_k{6}, feedback(0, true), {0.1}};
        std::size_t refused = 0;
        fibers::run(3, [&](fibers::member& comm) {
            distance_to_own<B> f(d, comm.rank());
            B on;
            typename B::template array<double> x(d);
            descent<method, distance_to_own<B>, fibers::member, double, B> run(r, f, comm, std::span<double>(x), 1);
            run.round();
            auto const before = x;
            if (comm.rank() == 1) f.move_center(17, std::numeric_limits<double>::quiet_NaN());
            try {
                run.round();
            } catch (non_finite_error const& e) {
                refused += e.rank == 1 && e.round == 1 && e.coordinate == 17;
            }
            CHECK(x == before);
            if (comm.rank() == 1) f.move_center(17, 0.25);
            run.round();
            CHECK_FALSE(x == before);
        });
        CHECK(refused == 3);
    }
    SUBCASE("a run that was saved there or on the host goes on in either place") {
        auto const start = saved_on_the_host_after(10), whole = saved_on_the_host_after(20);
        CHECK(start[0] != whole[0]);
        CHECK(saved_after<B>(10) == start);
        CHECK(saved_after<B>(10, start) == whole);
        CHECK(saved_on_the_host_after(10, saved_after<B>(10)) == whole);
    }
}

}  // namespace laws
