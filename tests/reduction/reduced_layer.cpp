// SPDX-License-Identifier: Apache-2.0
// A layer remembers nothing before commit, writes back once, and is skipped or sent in full on all ranks.
#include "laconic/reduction/reduced_layer.hpp"

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"

using how = error_feedback<top_k<>>;

// One layer of a rank, and the parts of its steps.
struct one_layer {
    detail::step_resources<fibers::member, host> with;
    detail::reduced_layer<how, fibers::member, double, host> l;
    int rank;

    one_layer(fibers::member& comm, layer is, std::size_t k = 1, reducer_options const& options = {})
        : l(with, how{top_k{k}}, std::move(is), options), rank(comm.rank()) {
        with.connect(comm);
    }
    // Makes the message about x, or leaves it out, sends it and waits for all ranks'.
    void exchange(std::uint64_t round, std::vector<double>* x, step_options const& options = {}, bool in_full = false,
                  bool watched = false) {
        if (x) {
            l.vector().start(detail::caller_vector(std::span(*x)));
            l.make_message(round, 1, options, in_full);
        } else {
            l.fail(detail::failure::left_out(l.was_not_started()).by(rank, round), false);
        }
        detail::joint_message message({&l}, {});
        message.send(with.over->messages, round, 0);
        reducer_statistics did;
        message.receive(with.over->messages, round, 0, watched, did);
    }
    void commit(std::uint64_t round) {
        l.commit(round);
        l.write_back();
        l.end_step();
    }
    void step(std::uint64_t round, std::vector<double>* x, bool in_full = false) {
        exchange(round, x, {}, in_full);
        commit(round);
    }
    std::vector<double> residual() const {
        auto const e = l.feedback().residual();
        return {e.begin(), e.end()};
    }
};

TEST_CASE("nothing is remembered before commit, and the caller's numbers change in write_back alone") {
    fibers::run(2, [](fibers::member& comm) {
        one_layer one(comm, {"w", 3});
        std::vector<double> x{1, double(2 + comm.rank()), -1};
        auto const before = x;
        one.exchange(0, &x, {.loss_scale = 0.5});
        CHECK(x == before);
        CHECK(one.residual() == std::vector<double>(3));
        one.l.commit(0);
        CHECK(x == before);
        CHECK(one.residual() == std::vector<double>{2, 0, -2});
        one.l.write_back();
        CHECK(x == std::vector<double>{0, 2.5, 0});
    });
}

TEST_CASE("a layer that all ranks skip keeps what it remembers, and one that some ranks skip is an error") {
    fibers::run(2, [](fibers::member& comm) {
        one_layer one(comm, {"w", 3});
        std::vector<double> x{1, 5, -1};
        one.step(0, &x);
        x = {7, 7, 7};
        auto const before = one.residual();
        one.step(1, nullptr);
        CHECK(one.residual() == before);
        CHECK(x == std::vector<double>{7, 7, 7});
        CHECK_THROWS_AS(one.step(2, comm.rank() == 0 ? nullptr : &x), compression_error);
        CHECK(one.residual() == before);
    });
}

TEST_CASE("a layer in full has no memory, and a step in full sends the residual, too") {
    fibers::run(2, [](fibers::member& comm) {
        one_layer full_one(comm, {"b", 3}, 1, {.in_full = {"b"}}), one(comm, {"w", 3});
        CHECK(full_one.l.described() == "3 numbers, in full");
        CHECK(one.l.described() == "3 numbers, error_feedback(top_k(1))");
        std::vector<double> x{1, double(2 + 2 * comm.rank()), -1}, y = x;
        full_one.step(0, &x);
        CHECK(x == std::vector<double>{1, 3, -1});
        CHECK(full_one.residual().empty());
        one.step(0, &y);
        CHECK(y == std::vector<double>{0, 3, 0});
        y = {1, 1, 1};
        one.step(1, &y, true);
        CHECK(y == std::vector<double>{2, 1, 0});
        CHECK(one.residual() == std::vector<double>(3));
    });
}

TEST_CASE(
    "estimates of lists of terms have the bits of the mean, whether the lists are short or long, and before commit "
    "none is written") {
    std::size_t const d = 64;
    for (std::size_t const k : {1u, 4u, 5u, 6u, 40u})  // three ranks' lists have at most 16 terms
        fibers::run(3, [&](fibers::member& comm) {
            one_layer lists(comm, {"", d}, k), means(comm, {"", d}, k), scaled(comm, {"", d}, k);
            for (std::uint64_t step = 0; step < 4; ++step) {
                std::vector<double> x(d);
                auto const of_rank = key{3}.child(step).child(std::uint64_t(comm.rank()));
                for (std::size_t i = 0; i < d; ++i) x[i] = of_rank.uniform(i) - 0.5;
                auto y = x, z = x;
                for (double& v : z) v *= 4;
                auto const take = [&](one_layer& one, std::vector<double>& v, bool watched, double loss_scale) {
                    auto const before = v;
                    one.exchange(step, &v, {.loss_scale = loss_scale}, false, watched);
                    CHECK(v == before);
                    one.commit(step);
                };
                take(lists, x, false, 1);
                take(means, y, true, 1);
                take(scaled, z, false, 4);
                CHECK(x == y);
                for (double& v : y) v *= 4;
                CHECK(z == y);
                CHECK(lists.residual() == means.residual());
                std::size_t written = 0;
                for (double const v : x) written += v != 0;
                CHECK(written >= k);
                CHECK(written <= 3 * k);
            }
        });
}
