// SPDX-License-Identifier: Apache-2.0
// `served` compresses the server's message, keeps what that leaves out, and shares a rank's error.
#include "laconic/transport/served.hpp"

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"
#include "support/passed_on.hpp"
#include "support/states.hpp"

using vec = std::vector<double>;
using message = detail::message_of<identity, double, host>;

struct rank_state {
    host on;
    detail::served_mean<top_k<>, message, double> by;
    memory<> feedback;
    message mine;
    detail::failure own;
    vec mean = vec(3, 77);

    explicit rank_state(fibers::member& comm, std::uint64_t in_full = 0)
        : by({top_k{1}, {0, 1}, in_full}, 3, position_code::smallest) {
        feedback.start(3);
        by.start(comm);
    }
    void send(fibers::member& comm, vec const& x) {
        identity{}(on, std::span<double const>(x), key{}, mine);
        by.send(on, comm, round_context{}, mine, own);
    }
    void receive(fibers::member& comm, std::uint64_t round) {
        by.receive(
            on, comm, round_context::of(key{1}, round, comm.rank(), comm.size()), mine, own,
            [](auto& there, int, auto& m) { return identity{}.blank(there, 3, key{}, m), identity{}; }, feedback,
            std::span(mean));
    }
    vec estimate(fibers::member& comm, vec const& x, std::uint64_t round) {
        send(comm, x);
        receive(comm, round);
        feedback.update(on, std::span<double const>(x), mine);
        by.reconstruct(on, comm, round_context::of(key{1}, round, comm.rank(), comm.size()), feedback, std::span(mean));
        return mean;
    }
};

// Two halves of a round, and the estimate without shifts.
template <class By, class Comm, class M, class Blank>
void estimate_by(By& by, Comm& comm, M const& mine, detail::failure const& own, Blank blank, std::span<double> mean,
                 std::uint64_t round = 5) {
    host on;
    memory<> feedback;
    feedback.start(mean.size());
    auto const now = round_context::of(key{1}, round, comm.rank(), comm.size());
    by.send(on, comm, now, mine, own);
    by.receive(on, comm, now, mine, own, blank, feedback, mean);
    by.reconstruct(on, comm, now, feedback, mean);
}

vec random_vector(std::size_t d, std::uint64_t seed) {
    vec x(d);
    for (std::size_t j = 0; j < d; ++j) x[j] = key{seed}.uniform(j) - .5;
    return x;
}
std::uint64_t number(int rank) { return static_cast<std::uint64_t>(rank); }

// The estimates of each rank, gathered and by a server that answers in full, of messages that are compressed by c.
template <class C>
struct both {
    std::vector<vec> all_gathered, all_served;

    both(C const& c, int n, std::size_t d) : all_gathered(number(n), vec(d)), all_served(number(n), vec(d)) {
        threads::run(n, [&](threads::member& comm) {
            auto const me = number(comm.rank());
            host on;
            auto const blank = [&](auto&, int r, auto& m) { return c.blank(on, d, key{9}.child(number(r)), m), c; };
            detail::message_of<C> mine;
            c(on, std::span<double const>(random_vector(d, me)), key{9}.child(me), mine);
            detail::gathered<detail::message_of<C>, double> gather({}, d, position_code::smallest);
            detail::served_mean<identity, detail::message_of<C>, double> server({}, d, position_code::smallest);
            server.start(comm);
            for (int again = 0; again < 3; ++again) {
                estimate_by(gather, comm, mine, {}, blank, all_gathered[me]);
                estimate_by(server, comm, mine, {}, blank, all_served[me]);
            }
        });
    }
};

// Sends all, but fails on demand.
struct fallible : identity {
    bool const* fails = nullptr;
    void operator()(host& on, std::span<double const> x, key k, messages::full_vector<double, host>& m) const {
        if (*fails) throw theory_error("nothing to send");
        identity::operator()(on, x, k, m);
    }
};

// Three ranks of two numbers each, where things may go wrong; which error each gets, and that the next round is a good
// one.
struct trial {
    int sends_error = -1, damages = -1;
    bool answer_fails = false, answer_damaged = false, unreadable = false;

    struct damaging : passed_on<threads::member> {
        bool sent, answer, unreadable;
        std::vector<std::byte> bytes{};

        payload damaged(payload c) {
            bytes.assign(c.bytes.begin(), c.bytes.end());
            bytes.resize(bytes.size() - 3);
            return {bytes, c.is_error};
        }
        void gather(int root, payload mine) { inner->gather(root, sent ? damaged(mine) : mine); }
        void broadcast(int root, payload mine) {
            if (unreadable && rank() == root) mine = {mine.bytes.first(5), true};
            inner->broadcast(root, answer && rank() == root ? damaged(mine) : mine);
        }
    };

    std::array<std::string, 3> run() const {
        std::array<std::string, 3> errors;
        threads::run(3, [&](threads::member& inner) {
            auto const me = number(inner.rank());
            bool fails = answer_fails;
            detail::served_mean<fallible, message, double> server({{{}, &fails}, {}}, 2, position_code::smallest);
            server.start(inner);
            vec mean(2);
            message const own{{3. * (1 + inner.rank()), 1}};
            auto const blank = [](auto&, int, message& m) { return m.values.resize(2), identity{}; };
            detail::failure wrong;
            if (sends_error == inner.rank() || (sends_error >= 0 && inner.rank() == 2))
                wrong = detail::failure::no_message(std::to_string(inner.rank()) + " sends it").by(inner.rank(), 5);
            try {
                damaging comm{{&inner}, damages == inner.rank(), answer_damaged, unreadable};
                estimate_by(server, comm, own, wrong, blank, mean);
                errors[me] = "no error";
            } catch (wire_error const& e) {
                errors[me] = "wire_error: " + std::string(e.what());
            } catch (compression_error const& e) {
                errors[me] = "compression_error: " + std::string(e.what());
            } catch (comm_error const& e) {
                errors[me] = "comm_error: " + std::string(e.what());
            }
            if (!answer_damaged)
                server.require_consistent();
            else
                CHECK_THROWS_AS(server.require_consistent(), comm_error);
            fails = false;
            estimate_by(server, inner, own, {}, blank, mean);
            if (mean != vec{6, 1}) errors[me] += ", and then the wrong mean";
        });
        return errors;
    }
};

std::array<std::string, 3> all_three(std::string const& text) { return {text, text, text}; }

TEST_CASE("the server's message is compressed, and what it leaves out is sent later") {
    std::vector<vec> residual(2);
    fibers::run(2, [&](fibers::member& comm) {
        rank_state at(comm);
        vec const x = comm.rank() == 0 ? vec{4, 2, 0} : vec{0, 4, 2};
        CHECK(at.estimate(comm, x, 0) == vec{0, 3, 0});  // of (2, 3, 1)
        CHECK(at.estimate(comm, x, 1) == vec{4, 0, 0});  // of (4, 3, 2)
        auto const left = at.by.feedback().residual();
        residual[std::size_t(comm.rank())].assign(left.begin(), left.end());
        // The state is what the server remembers.
        rank_state again(comm);
        restore_from(at.by, again.by);
        CHECK(again.estimate(comm, x, 2) == vec{0, 6, 0});  // of (2, 6, 3)
    });
    CHECK(residual[0] == vec{0, 3, 2});
    CHECK(residual[1].empty());
}

TEST_CASE("in its first rounds the server's message is in full") {
    fibers::run(2, [&](fibers::member& comm) {
        rank_state at(comm, 2);
        vec const x = comm.rank() == 0 ? vec{4, 2, 0} : vec{0, 4, 2};
        for (std::uint64_t const round : {0, 1}) CHECK(at.estimate(comm, x, round) == vec{2, 3, 1});
        CHECK(at.estimate(comm, x, 2) == vec{0, 3, 0});
        CHECK(at.estimate(comm, x, 3) == vec{4, 0, 0});
    });
}

TEST_CASE("the text of served, and a compressor that does not fit the dimension") {
    CHECK(to_string(served<top_k<>>{top_k{2}, {0, 1}}) == "served(top_k(2), memory(rate=0, decay=1))");
    CHECK(to_string(served<top_k<>>{top_k{2}, {0, 1}, 3}) == "served(top_k(2), memory(rate=0, decay=1), in_full=3)");
    CHECK_THROWS_AS((detail::served_mean<top_k<>, message, double>({top_k{4}, {}}, 3, position_code::smallest)),
                    argument_error);
}

TEST_CASE("with an answer in full every rank gets the mean that all get where messages are gathered, bit for bit") {
    for (int const n : {1, 2, 5, 7}) {
        CAPTURE(n);
        auto const check = [&](auto const& c) {
            both const all(c, n, 23);
            for (auto const& x : all.all_served) CHECK(x == all.all_gathered[0]);
            CHECK(all.all_gathered[0] != vec(23));
        };
        check(identity{});
        check(top_k{5});
        check(rand_k{5});
        check(quantize{3});
    }
}

TEST_CASE("the server alone has the mean before the answer is read") {
    std::array<vec, 2> there;
    threads::run(2, [&](threads::member& comm) {
        auto const me = number(comm.rank());
        host on;
        memory<> feedback;
        feedback.start(2);
        detail::failure const none;
        there[me] = {10, 20};
        detail::served_mean<identity, message, double> server({}, 2, position_code::smallest);
        server.start(comm);
        message const own{{4. * comm.rank(), 2}};
        auto const blank = [](auto&, int, message& m) { return m.values.resize(2), identity{}; };
        server.send(on, comm, {}, own, none);
        server.receive(on, comm, {}, own, none, blank, feedback, std::span(there[me]));
        CHECK(there[me] == (me == 0 ? vec{2, 2} : vec{10, 20}));
        server.reconstruct(on, comm, {}, feedback, std::span(there[me]));
    });
    for (auto const& x : there) CHECK(x == vec{2, 2});
}

TEST_CASE("a failure reaches every rank, the first one's alone, and nothing is left behind") {
    CHECK(trial{}.run() == all_three("no error"));
    CHECK(trial{.sends_error = 1}.run() == all_three("compression_error: rank 1, round 5: 1 sends it"));
    CHECK(trial{.sends_error = 0}.run() == all_three("compression_error: rank 0, round 5: 0 sends it"));
    CHECK(trial{.sends_error = 2}.run() == all_three("compression_error: rank 2, round 5: 2 sends it"));
}

TEST_CASE("damaged bytes reach every rank as the same wire_error, which names the rank") {
    for (int const r : {0, 1, 2}) {
        auto const errors = trial{.damages = r}.run();
        CHECK(errors == all_three(errors[0]));
        CHECK(errors[0].find("wire_error: at bit 64 ") == 0);
        CHECK(errors[0].find("from rank " + std::to_string(r) + ": it ends ") != std::string::npos);
    }
    auto const errors = trial{.answer_damaged = true}.run();
    CHECK(errors == all_three(errors[0]));
    CHECK(errors[0].find("wire_error: at bit 64 ") == 0);
    CHECK(errors[0].find("from rank 0: it ends ") != std::string::npos);
    // A failure comes before any damage.
    CHECK(trial{.sends_error = 1, .damages = 0}.run() == all_three("compression_error: rank 1, round 5: 1 sends it"));
}

TEST_CASE("where the server finds no answer all get the reason") {
    CHECK(trial{.answer_fails = true}.run() ==
          all_three("compression_error: rank 0, round 5: the server's answer: nothing to send"));
}

TEST_CASE("an unreadable error frame of the server is one") {
    auto const errors = trial{.sends_error = 1, .unreadable = true}.run();
    CHECK(errors[1] == "wire_error: at bit 0 of a message: from rank 0: an unreadable error frame");
    CHECK(errors == all_three(errors[1]));
}

TEST_CASE("up: each rank's message to the server; down: the server's to all, broadcast once") {
    std::array<std::uint64_t, 3> sent{}, received{}, broadcast{}, collected{};
    std::array<std::uint64_t, 2> counted_bits{};
    threads::run(3, [&](threads::member& inner) {
        metered comm(inner);
        host on;
        auto const me = number(comm.rank());
        auto const up = top_k{3} | quantize{3};
        auto const down = rand_k{5};
        detail::message_of<decltype(up)> mine;
        up(on, std::span<double const>(random_vector(100, me)), key{1}, mine);
        detail::served_mean<rand_k<>, detail::message_of<decltype(up)>, double> server({down, {}}, 100,
                                                                                       position_code::smallest);
        server.start(comm);
        vec mean(100);
        estimate_by(
            server, comm, mine, {}, [&](auto&, int, auto& m) { return up.blank(on, 100, key{1}, m), up; }, mean);
        sent[me] = comm.bytes_sent();
        received[me] = comm.bytes_received();
        broadcast[me] = comm.bytes_broadcast();
        collected[me] = comm.bytes_gathered();
        detail::message_of<rand_k<>> answer;
        down(on, std::span<double const>(mean), key{2}, answer);
        if (me == 0) counted_bits = {account(mine).unpadded(), account(answer).unpadded()};
    });
    CHECK(counted_bits == std::array<std::uint64_t, 2>{3 + 3 * 7 + 64 + 3 * 3, 5 * 64});  // of 13 bytes, and of 40
    CHECK(sent == std::array<std::uint64_t, 3>{13, 13, 13});
    CHECK(received == std::array<std::uint64_t, 3>{0, 40, 40});
    CHECK(broadcast == std::array<std::uint64_t, 3>{40, 0, 0});
    CHECK(collected == std::array<std::uint64_t, 3>{26, 0, 0});
}
