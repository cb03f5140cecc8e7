// SPDX-License-Identifier: Apache-2.0
// `nccl` carries collectives, exchanges and arrays, gives the bits of threads, and names ranks that leave.
#include "laconic/comm/nccl.hpp"

#include "laconic/collective/dense/ring.hpp"
#include "laconic/collective/sparse/split_all_gather.hpp"
#include "laconic/comm/threads.hpp"
#include "laconic/compress/natural.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/method/diana.hpp"
#include "laconic/method/ef_sgd.hpp"
#include "support/end_of_a_run.hpp"
#include "support/nccl_ranks.hpp"
#include "support/schedules.hpp"
#include "support/test.hpp"

namespace tests_of_nccl {

// Over the stand-in, and in a program for GPUs over NCCL itself, with as many ranks as it has.

using namespace laconic;
using nccl_ranks::counts;
using nccl_ranks::on_device;
using nccl_ranks::run;
using schedules::collectives;
using schedules::test_message;
using short_run::end_of_a_run;
using std::chrono::milliseconds;

static_assert(PointToPoint<nccl> && AllReducer<nccl, float> && AllReducer<nccl, double>);

namespace {

template <class Run, class M>
std::vector<std::vector<double>> ends(Run with, int ranks, M const& method) {
    std::vector<std::vector<double>> all(static_cast<std::size_t>(ranks));
    with(ranks, [&](auto& comm) { all[static_cast<std::size_t>(comm.rank())] = end_of_a_run(comm, method); });
    return all;
}

// As long on all ranks.
int equal_calls(nccl& comm) {
    int const n = comm.size(), me = comm.rank();
    int wrong = 0;
    for (int turn = 0; turn < 20; ++turn) {
        int const root = turn % n;
        std::vector<std::byte> const mine(static_cast<std::size_t>(turn), static_cast<std::byte>(me));
        comm.all_gather({mine, me == root});
        for (int r = 0; r < n; ++r) {
            auto const received = comm.from(r);
            wrong += received.is_error != (r == root) || received.bytes.size() != std::size_t(turn);
            for (auto const b : received.bytes) wrong += b != std::byte(r);
        }
    }
    return wrong;
}

// On all ranks nothing is wrong.
template <class Check>
void all_right(Check check) {
    for (int const n : counts()) {
        CAPTURE(n);
        std::vector<int> wrong(std::size_t(n), 99);
        run(n, [&](nccl& comm) { wrong[std::size_t(comm.rank())] = check(comm); });
        CHECK(wrong == std::vector<int>(std::size_t(n)));
    }
}

}  // namespace

TEST_CASE("collectives deliver payloads of any lengths, and error frames") {
    all_right([](nccl& comm) { return collectives(comm) + equal_calls(comm); });
}

TEST_CASE("ranks exchange in pairs, by any schedule") {
    all_right([](nccl& comm) { return schedules::all(comm) + schedules::refuses_ranks_that_do_not_exist(comm); });
}

TEST_CASE("what a rank has handed over arrives when it is done already") {
    all_right([](nccl& comm) {
        int const n = comm.size(), me = comm.rank();
        if (me > 0) return 0 * int(comm.exchange(0, test_message(me, 0, 1).as_payload(), no_rank).bytes.size());
        int wrong = 0;
        for (int r = n - 1; r > 0; --r) wrong += test_message(r, 0, 1).wrong(comm.exchange(no_rank, {}, r));
        return wrong;
    });
}

TEST_CASE_TEMPLATE("NCCL adds up in the device's memory", T, float, double) {
    for (int const n : counts())
        for (std::size_t const d : {0, 1, 5, 61}) {
            std::vector<std::vector<T>> sums(std::size_t(n), {T(-1)});
            std::vector<T> expected(d);
            run(n, [&](nccl& comm) {
                std::vector<T> x(d);
                for (std::size_t i = 0; i < d; ++i) x[i] = T(int(i) * (comm.rank() + 1) - 7 * comm.rank());
                on_device<T> const there(x, comm.stream());
                comm.all_reduce(there.span());
                comm.sum_in_stream(there.span());
                comm.wait();
                sums[std::size_t(comm.rank())] = there.numbers();
            });
            for (std::size_t i = 0; i < d; ++i)
                for (int r = 0; r < n; ++r) expected[i] += T(n) * T(int(i) * (r + 1) - 7 * r);
            CHECK(sums == std::vector<std::vector<T>>(std::size_t(n), expected));
        }
}

TEST_CASE("an all-reduce stands between exchanges, and ranks that differ all throw before anything is added") {
    for (int const n : counts(2)) {
        auto const errors = nccl_ranks::errors_on(n, [&](nccl& comm) {
            int const me = comm.rank(), next = (me + 1) % n, last = (me + n - 1) % n;
            on_device<float> const x(std::vector<float>(4, 1), comm.stream());
            if (me == 0) comm.exchange(next, test_message(me, next, 0).as_payload(), no_rank);
            if (me == 1) CHECK_FALSE(test_message(last, me, 0).wrong(comm.exchange(no_rank, {}, last)));
            comm.all_reduce(x.span());
            CHECK(x.numbers() == std::vector<float>(4, float(n)));
            try {
                comm.all_reduce(me == 1 ? x.span().first(3) : x.span());
            } catch (shape_error const& e) {
                CHECK(x.numbers() == std::vector<float>(4, float(n)));
                comm.all_reduce(x.span());  // and all go on
                CHECK(x.numbers() == std::vector<float>(4, float(n * n)));
                throw;
            }
        });
        CHECK(errors == std::vector<std::string>(std::size_t(n), "rank 1 brings 3 numbers to an all-reduce, rank 0 4"));
    }
}

TEST_CASE("arrays are carried from where they are to where they go") {
    all_right([](nccl& comm) {
        int const n = comm.size(), me = comm.rank(), next = (me + 1) % n, last = (me + n - 1) % n;
        std::vector<double> all(std::size_t(3 * n)), wanted(std::size_t(3 * n));
        for (int r = 0; r < n; ++r)
            for (int i = 0; i < 3; ++i) wanted[std::size_t(3 * r + i)] = 10 * r + i;
        auto const own = std::size_t(3 * me);
        on_device<double> const mine({wanted[own], wanted[own + 1], wanted[own + 2]}, comm.stream());
        on_device<double> const theirs(all, comm.stream()), from_last({0, 0, 0}, comm.stream());
        comm.together([&] {
            for (int r = 0; r < n; ++r)
                comm.spread(r, std::span<double const>(mine.span()), theirs.span().subspan(std::size_t(3 * r), 3));
        });
        if (n > 1)
            comm.together([&] {
                comm.send(next, std::span<double const>(mine.span()));
                comm.receive(last, from_last.span());
            });
        comm.wait();
        int wrong = theirs.numbers() != wanted;
        if (n > 1) wrong += from_last.numbers()[2] != 10 * last + 2;
        return wrong;
    });
}

TEST_CASE("exchanges run over it") {
    all_right([](nccl& comm) {
        int const n = comm.size(), me = comm.rank();
        host on;
        auto sum = make_sum<double>(ring{}, comm, 40);
        std::vector<double> x(40);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = double(me + 1) * double(i);
        sum(on, comm, std::span(x));
        int wrong = 0;
        for (std::size_t i = 0; i < x.size(); ++i) wrong += x[i] != double(n * (n + 1) / 2) * double(i);
        auto sparse = make_sum<double>(split_all_gather{}, comm, 40);
        sparse_sum<double> v(40);
        v.append(std::size_t(me), 1);
        v.append(20, 2);
        sparse(on, comm, v);
        return wrong + (v.size() != std::size_t(n) + 1) + (v.values().back() != 2 * n);
    });
}

TEST_CASE("a run is the same as over threads, bit for bit and byte for byte") {
    auto const over_nccl = [](int n, auto body) { run(n, body); };
    auto const over_threads = [](int n, auto body) { threads::run(n, body); };
    for (int const n : counts()) {
        diana const d{rand_k{0.2} | natural{}};
        CHECK(ends(over_nccl, n, d) == ends(over_threads, n, d));
        ef_sgd const e{top_k{0.1}};
        CHECK(ends(over_nccl, n, e) == ends(over_threads, n, e));
    }
}

TEST_CASE("over a communicator of the caller's") {
    std::vector<int> wrong(std::size_t(counts().back()), 99);
    nccl_ranks::each(counts().back(), [&](int rank, ncclUniqueId const& id, cudaStream_t stream) {
        ncclComm_t all = nullptr;
        REQUIRE(ncclCommInitRank(&all, counts().back(), id, rank) == ncclSuccess);
        wrong[std::size_t(rank)] = 0;
        for (int n = 0; n < 2; ++n) {
            nccl comm(all, stream);
            wrong[std::size_t(rank)] +=
                collectives(comm) + equal_calls(comm) + (comm.rank() != rank) + (comm.size() != counts().back());
        }
        CHECK(ncclCommDestroy(all) == ncclSuccess);
    });
    CHECK(wrong == std::vector<int>(wrong.size()));
}

TEST_CASE("a root that does not exist is refused") {
    run(1, [](nccl& comm) {
        CHECK_THROWS_WITH_AS(comm.gather(-1, {}), "the root is rank -1 of 1", argument_error);
        CHECK_THROWS_AS(comm.broadcast(1, {}), argument_error);
    });
}

TEST_CASE("where all ranks wait in vain the errors say who waits for whom") {
    for (int const n : counts()) {
        auto const alone = nccl_ranks::errors_on(n, [](nccl& comm) { comm.exchange(no_rank, {}, comm.rank()); });
        CHECK(alone[0] == "rank 0 waits for rank 0: no rank can go on");
    }
    for (int const n : counts(3)) {
        auto const circle =
            nccl_ranks::errors_on(n, [&](nccl& comm) { comm.exchange(no_rank, {}, (comm.rank() + 1) % 3); });
        CHECK(circle[1] ==
              "rank 1 waits for rank 2, which waits for rank 0, which waits for rank 1: no rank can go on");
        auto const gathers =
            nccl_ranks::errors_on(n, [&](nccl& comm) { comm.rank() == 1 ? comm.gather(0, {}) : comm.all_gather({}); });
        CHECK(gathers[0] == "rank 0 waits for rank 1, which waits for rank 0: no rank can go on");
    }
}

TEST_CASE("a rank that leaves, or throws, is named to those who wait for it") {
    for (int const n : counts(2)) {
        for (bool const throws : {false, true}) {
            auto const errors = nccl_ranks::errors_on(n, [&](nccl& comm) {
                comm.all_gather({});
                if (comm.rank() == 1 && throws) throw file_error("data", 3, 1, "broken line");
                if (comm.rank() == 1) return;
                try {
                    for (;;) comm.all_gather({});
                } catch (comm_error const& e) {
                    CHECK(e.rank == 1);
                    CHECK_THROWS_AS(comm.exchange(no_rank, {}, 1), comm_error);  // and again
                    throw;
                }
            });
            for (int r = 0; r < n; ++r)
                if (r != 1)
                    CHECK(errors[std::size_t(r)] ==
                          "rank 1 has ended, while others wait for it: all ranks must make the same calls");
        }
    }
}

}  // namespace tests_of_nccl
