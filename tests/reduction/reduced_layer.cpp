// SPDX-License-Identifier: Apache-2.0
// A layer remembers nothing before commit, writes back once, and is skipped or sent in full on all ranks.
#include "laconic/reduction/reduced_layer.hpp"

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"

using namespace laconic;

using how = error_feedback<top_k<>>;
using one_layer = detail::reduced_layer<how, fibers::member, double, host>;

// Sends the message of a step and waits for all ranks'.
void exchange(one_layer& l, one_layer::resources& with, std::uint64_t round, bool watched = false) {
    detail::joint_message message({&l}, {});
    message.send(with.over->messages, round, 0);
    message.receive(with.over->messages, round, 0, watched);
}

detail::caller_vector numbers(std::vector<double>& x) { return detail::caller_vector(std::span(x)); }
std::vector<double> residual_of(one_layer const& l) {
    auto const e = l.feedback().residual();
    return {e.begin(), e.end()};
}

TEST_CASE("nothing is remembered before commit, and the caller's numbers change in write_back alone") {
    fibers::run(2, [](fibers::member& comm) {
        one_layer::resources with;
        with.connect(comm);
        one_layer l(with, how{top_k{1}}, {"w", 3}, {});
        std::vector<double> x{1, double(2 + comm.rank()), -1};
        auto const before = x;
        l.vector().start(numbers(x));
        l.make_message(0, 1, {.loss_scale = 0.5}, false);
        exchange(l, with, 0);
        CHECK(x == before);
        CHECK(residual_of(l) == std::vector<double>(3));
        l.commit(0);
        CHECK(x == before);
        CHECK(residual_of(l) == std::vector<double>{2, 0, -2});
        l.write_back();
        CHECK(x == std::vector<double>{0, 2.5, 0});
    });
}

TEST_CASE("a message that cannot be made is an error on all ranks, which names the layer where it has a name") {
    std::vector<std::string> errors;
    for (std::string const name : {"", "w"})
        fibers::run(2, [&](fibers::member& comm) {
            one_layer::resources with;
            with.connect(comm);
            one_layer l(with, how{top_k{1}}, {name, 3}, {});
            std::vector<double> x(comm.rank() == 1 ? 2 : 3);
            l.vector().start(numbers(x));
            l.make_message(8, 1, {}, false);
            try {
                exchange(l, with, 8);
            } catch (compression_error const& e) {
                errors.push_back(e.what());
            }
        });
    CHECK(errors ==
          std::vector<std::string>{"rank 1, round 8: a vector of 2 numbers, where the reducer has 3",
                                   "rank 1, round 8: a vector of 2 numbers, where the reducer has 3",
                                   "rank 1, round 8: layer w: a vector of 2 numbers, where the reducer has 3",
                                   "rank 1, round 8: layer w: a vector of 2 numbers, where the reducer has 3"});
}

TEST_CASE("a layer that all ranks skip keeps what it remembers, and one that some ranks skip is an error") {
    fibers::run(2, [](fibers::member& comm) {
        one_layer::resources with;
        with.connect(comm);
        one_layer l(with, how{top_k{1}}, {"w", 3}, {});
        std::vector<double> x{1, 5, -1};
        auto const step = [&](std::uint64_t k, bool skip) {
            if (!skip) l.vector().start(numbers(x));
            if (skip)
                l.fail(detail::failure::left_out(l.was_not_started()).by(comm.rank(), k), false);
            else
                l.make_message(k, 1, {}, false);
            exchange(l, with, k);
            l.commit(k);
            l.write_back();
            l.end_step();
        };
        step(0, false);
        x = {7, 7, 7};
        auto const before = residual_of(l);
        step(1, true);
        CHECK(residual_of(l) == before);
        CHECK(x == std::vector<double>{7, 7, 7});
        CHECK_THROWS_AS(step(2, comm.rank() == 0), compression_error);
        CHECK(residual_of(l) == before);
    });
}

TEST_CASE("a layer in full has no memory, and a step in full sends the residual, too") {
    fibers::run(2, [](fibers::member& comm) {
        one_layer::resources with;
        with.connect(comm);
        one_layer full_one(with, how{top_k{1}}, {"b", 3}, {.in_full = {"b"}}), l(with, how{top_k{1}}, {"w", 3}, {});
        CHECK(full_one.described() == "3 numbers, in full");
        CHECK(l.described() == "3 numbers, error_feedback(top_k(1))");
        std::vector<double> x{1, double(2 + 2 * comm.rank()), -1}, y = x;
        auto const step = [&](one_layer& of, std::vector<double>& v, std::uint64_t k, bool in_full) {
            of.vector().start(numbers(v));
            of.make_message(k, 1, {}, in_full);
            exchange(of, with, k);
            of.commit(k);
            of.write_back();
        };
        step(full_one, x, 0, false);
        CHECK(x == std::vector<double>{1, 3, -1});
        CHECK(full_one.feedback().residual().empty());
        step(l, y, 0, false);
        CHECK(y == std::vector<double>{0, 3, 0});
        y = {1, 1, 1};
        step(l, y, 1, true);
        CHECK(y == std::vector<double>{2, 1, 0});
        CHECK(residual_of(l) == std::vector<double>(3));
    });
}

TEST_CASE(
    "estimates of lists of terms have the bits of the mean, whether the lists are short or long, and before commit "
    "none is written") {
    std::size_t const d = 64;
    for (std::size_t const k : {1u, 4u, 5u, 6u, 40u})  // three ranks' lists have at most 16 terms
        fibers::run(3, [&](fibers::member& comm) {
            one_layer::resources with;
            with.connect(comm);
            one_layer lists(with, how{top_k{k}}, {"", d}, {}), means(with, how{top_k{k}}, {"", d}, {}),
                scaled(with, how{top_k{k}}, {"", d}, {});
            for (std::uint64_t step = 0; step < 4; ++step) {
                std::vector<double> x(d);
                auto const of_rank = key{3}.child(step).child(std::uint64_t(comm.rank()));
                for (std::size_t i = 0; i < d; ++i) x[i] = of_rank.uniform(i) - 0.5;
                auto y = x, z = x;
                for (double& v : z) v *= 4;
                auto const take = [&](one_layer& l, std::vector<double>& v, bool watched, double loss_scale) {
                    auto const before = v;
                    l.vector().start(numbers(v));
                    l.make_message(step, 1, {.loss_scale = loss_scale}, false);
                    exchange(l, with, step, watched);
                    CHECK(v == before);
                    l.commit(step);
                    l.write_back();
                    l.end_step();
                };
                take(lists, x, false, 1);
                take(means, y, true, 1);
                take(scaled, z, false, 4);
                CHECK(x == y);
                for (double& v : y) v *= 4;
                CHECK(z == y);
                CHECK(residual_of(lists) == residual_of(means));
                std::size_t written = 0;
                for (double const v : x) written += v != 0;
                CHECK(written >= k);
                CHECK(written <= 3 * k);
            }
        });
}
