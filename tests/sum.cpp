// SPDX-License-Identifier: Apache-2.0
// sum(), mean() and reduce_scatter() do what plain loops do, of all types of numbers and by all exact collectives, over
// threads and fibers; tests/mpi/sums.cpp has the same over MPI.
#include "laconic/sum.hpp"

#include "laconic/comm/fibers.hpp"
#include "support/allocations.hpp"
#include "support/everything.hpp"
#include "support/sum_calls.hpp"

// What is wrong on the ranks, joined.
template <class Engine, class Call>
std::string on_ranks(int ranks, Call call) {
    std::vector<std::string> wrong(static_cast<std::size_t>(ranks));
    Engine::run(ranks, [&](auto& engine) {
        any_communicator comm(engine);  // so that the calls are compiled once
        wrong[static_cast<std::size_t>(comm.rank())] = call(comm);
    });
    std::string all;
    for (auto const& each : wrong)
        if (all.empty()) all = each;
    return all;
}

TEST_CASE_TEMPLATE("sums, means and parts of sums are those of plain loops, of every type of numbers", engine, threads,
                   fibers) {
    for (int const ranks : {1, 2, 3, 4, 7})
        for (std::size_t const d : {0, 1, 2, 5, 64, 301}) {
            CAPTURE(ranks);
            CHECK(on_ranks<engine>(ranks,
                                   [&](any_communicator& comm) { return sum_calls::wrong_with_types(comm, d); }) == "");
        }
}

TEST_CASE("and so they are by every exact collective") {
    for (int const ranks : {1, 3, 4, 6})
        for (std::size_t const d : {0, 2, 61}) {
            CAPTURE(ranks);
            CHECK(on_ranks<fibers>(
                      ranks, [&](any_communicator& comm) { return sum_calls::wrong_with_collectives(comm, d); }) == "");
        }
}

TEST_CASE_TEMPLATE("errors are the same on all ranks, change nothing, and the next call works", engine, threads,
                   fibers) {
    for (int const ranks : {1, 2, 3, 4, 5}) {
        CAPTURE(ranks);
        CHECK(on_ranks<engine>(ranks, [](any_communicator& comm) { return sum_calls::wrong_with_errors(comm); }) == "");
    }
}

TEST_CASE("ranges of every kind are summed where they are") {
    threads::run(2, [](auto& comm) {
        metered wire(comm);
        Eigen::MatrixXf matrix = Eigen::MatrixXf::Constant(2, 3, 1);
        std::array<double, 2> array{1, 2};
        std::unique_ptr<float[]> const own(new float[3]{1, 2, 3});
        sum(wire, matrix);
        sum(wire, array);
        sum(wire, std::span(own.get(), 3));
        sum(wire, std::span(own.get(), 3).subspan(1, 1));
        if (matrix.sum() != 12 || array[1] != 4 || own[0] != 2 || own[1] != 8 || own[2] != 6)
            throw error("not the sum");
        if (wire.bytes_sent() == 0) throw error("nothing was counted");
    });
}

TEST_CASE("a persistent sum allocates nothing in its second call, and returns its own memory of sparse vectors") {
    auto const last_allocation = [](auto make, auto call) {
        std::vector<std::size_t> last(4);
        fibers::run(4, [&](auto& comm) {
            auto x = make(comm.rank());
            persistent_sum again(comm, x);
            last[static_cast<std::size_t>(comm.rank())] = last_to_allocate(12, [&] { call(again, x); });
        });
        return *std::max_element(last.begin(), last.end());
    };
    auto const plain = [](auto& sums, auto& x) { sums(x); };
    auto const zeros = [](auto e) { return [=](int) { return std::vector<decltype(e)>(100); }; };
    auto const terms = [](int rank) {
        return sum_calls::in_disorder(sum_calls::without_zeros(sum_calls::numbers<double>(rank, 100)));
    };
    CHECK(last_allocation(zeros(0.0f), plain) <= 3);
    CHECK(last_allocation(zeros(0.0), [](auto& sums, auto& x) { sums.mean(x); }) <= 3);
    CHECK(last_allocation(zeros(0.0f), [](auto& sums, auto& x) { sums.reduce_scatter(x); }) <= 3);
    CHECK(last_allocation(zeros(std::int64_t{0}), plain) <= 3);
    CHECK(last_allocation(zeros(Eigen::half{}), plain) <= 3);
    CHECK(last_allocation(terms, plain) <= 3);
    CHECK(last_allocation(terms, [](auto& sums, auto& x) { sums.reduce_scatter(x); }) <= 3);
}

TEST_CASE("reduce_scatter sends half of what a sum by a ring does, and sparse parts less than sparse sums") {
    std::size_t const d = 4000;
    std::vector<std::uint64_t> sent(5 * 4);
    fibers::run(4, [&](auto& inner) {
        metered comm(inner);
        auto const me = static_cast<std::size_t>(comm.rank());
        auto const bytes = [&](auto call) {
            auto const before = comm.bytes_sent();
            call();
            return comm.bytes_sent() - before;
        };
        auto x = sum_calls::numbers<float>(comm.rank(), d);
        auto const terms = sum_calls::without_zeros(x);
        persistent_sum by_ring(comm, x, ring{});
        persistent_sum split(comm, terms, split_all_gather{});
        sent[me] = bytes([&] { by_ring(x); });
        sent[4 + me] = bytes([&] { by_ring.reduce_scatter(x); });
        sent[8 + me] = bytes([&] { split(terms); });
        sent[12 + me] = bytes([&] { split.reduce_scatter(terms); });
    });
    for (std::size_t r = 0; r < 4; ++r) {
        CHECK(sent[r] == 2 * 3 * d);
        CHECK(sent[4 + r] == 3 * d);
        CHECK(2 * sent[12 + r] < sent[8 + r] + 100);
    }
}

TEST_CASE("a collective that is chosen at run time sums, too, unless it leaves terms out") {
    threads::run(2, [](auto& comm) {
        std::vector<double> x{1, 2, 3};
        sum(comm, x, any_collective<double>(ring{}));
        sum(comm, x, any_collective<double>(gathered_sum{}));
        if (x != std::vector<double>{4, 8, 12}) throw error("not the sum");
        auto const refused =
            sum_calls::thrown<argument_error>([&] { sum(comm, x, any_collective<double>(gtop_k{1})); });
        if (refused !=
            "the collective gtop_k(1) leaves terms out of the sum: take one that applies the whole sum, such as ring")
            throw error(refused);
    });
}
