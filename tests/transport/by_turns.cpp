// SPDX-License-Identifier: Apache-2.0
// In turns one rank moves and sends; the others' messages are zero, and their memories stay as they are.
#include "laconic/transport/by_turns.hpp"

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"
#include "support/states.hpp"

using vec = std::vector<double>;
static_assert(Feedback<turn_memory<>>);

// For each exchange: who moves, who sends (a for all, - for none), the batch, the rounds made by then.
std::string table(turn_schedule const& when, std::uint64_t exchanges) {
    std::string text;
    for (std::uint64_t e = 0; e < exchanges; ++e) {
        auto const ranks = [&](auto what) {
            std::string who;
            for (int r = 0; r < when.parties; ++r)
                if (what(r)) who += std::to_string(r);
            return who.size() == std::size_t(when.parties) ? "a" : who.empty() ? "-" : who;
        };
        text += ranks([&](int r) { return when.moves(e, r); }) + ranks([&](int r) { return when.sends(e, r); }) +
                std::to_string(when.batch(e)) + std::to_string(when.rounds(e + 1)) + (when.ends_round(e) ? ". " : " ");
    }
    return text;
}

TEST_CASE("who moves, who sends about which batch, and where rounds end") {
    CHECK(table({3, false, false}, 4) == "-a00. aa11. aa22. aa33. ");
    CHECK(table({3, false, true}, 4) == "-a00. aa11. aa22. aa33. ");
    CHECK(table({3, true, false}, 7) == "-a00. 0000 1100 2211. 0011 1111 2222. ");
    CHECK(table({3, true, true}, 7) == "-a00. 0000 1100 2a11. 0011 1111 2a22. ");
    CHECK(turn_schedule{3, true}.rounds(0) == 0);
}

// Rank r's vector in that exchange.
vec vector_of(int rank, std::uint64_t exchange) {
    vec v(4);
    for (std::size_t i = 0; i < 4; ++i) v[i] = std::sin(double(i) + 3 * rank + 7 * double(exchange));
    return v;
}

// The sums of what ranks know of each other, exchange by exchange, and the bytes that a rank sent in each.
template <class C>
void known_sums(turn_schedule const& when, C const& compressor, std::vector<vec>& sums,
                std::vector<std::uint64_t>& bytes) {
    using message = detail::message_of<C, double>;
    fibers::run(3, [&](fibers::member& inner) {
        metered comm(inner);
        host on;
        turn_mean<message, double> by({when}, 4, position_code::smallest);
        turn_memory<> memory(when, comm.rank());
        memory.start(4);
        for (std::uint64_t e = 0; e < 8; ++e) {
            if (e == 5) {
                turn_memory<> again(when, comm.rank());
                again.start(4);
                restore(again, saved(memory), "a part", 4);
                memory = again;
            }
            auto const now = round_context::of(key{1}, e, comm.rank(), 3);
            vec delta = vector_of(comm.rank(), e), mean(4, 77);
            CHECK(memory.make_delta(on, now, 1., std::span(delta)));
            message mine;
            compressor(on, std::span<double const>(delta), now.own, mine);
            auto const before = comm.bytes_sent() + comm.bytes_broadcast();
            by.send(on, comm, now, mine, {});
            by.receive(
                on, comm, now, mine, {},
                [&](auto& there, int r, auto& m) {
                    return compressor.blank(there, 4, round_context::of(key{1}, e, r, 3).own, m), compressor;
                },
                memory, std::span(mean));
            if (comm.rank() == 1) bytes.push_back(comm.bytes_sent() + comm.bytes_broadcast() - before);
            memory.update(on, std::span<double const>(delta), mine);
            by.reconstruct(on, comm, now, memory, std::span(mean));
            for (double& v : mean) v *= 3;
            if (comm.rank() == 0) sums.push_back(mean);
            inner.all_gather({std::as_bytes(std::span(mean))});
            for (int r = 0; r < 3; ++r) {
                auto const theirs = inner.from(r).bytes;
                CHECK(std::equal(theirs.begin(), theirs.end(), std::as_bytes(std::span(mean)).begin()));
            }
        }
    });
}

TEST_CASE("all ranks know the sum of what each has sent last") {
    for (bool const batches : {false, true}) {
        turn_schedule const when{3, true, batches};
        std::vector<vec> sums;
        std::vector<std::uint64_t> bytes;
        known_sums(when, identity{}, sums, bytes);
        std::vector<vec> last(3, vec(4));
        for (std::uint64_t e = 0; e < 8; ++e) {
            for (int r = 0; r < 3; ++r)
                if (when.sends(e, r)) last[std::size_t(r)] = vector_of(r, e);
            CAPTURE(e);
            for (std::size_t i = 0; i < 4; ++i)
                CHECK(sums[e][i] == doctest::Approx(last[0][i] + last[1][i] + last[2][i]).epsilon(1e-14));
            CHECK(bytes[e] == (when.sends(e, 1) ? 32 : 0));
        }
    }
}

TEST_CASE("compressed differences: the shift is what the others know") {
    turn_schedule const when{3, true, false};
    std::vector<vec> sums;
    std::vector<std::uint64_t> bytes;
    top_k<> const largest{1};
    known_sums(when, largest, sums, bytes);
    std::vector<vec> known(3, vec(4));
    for (std::uint64_t e = 0; e < 8; ++e)
        for (int r = 0; r < 3; ++r) {
            if (!when.sends(e, r)) continue;
            auto& h = known[std::size_t(r)];
            auto const v = vector_of(r, e);
            std::size_t j = 0;
            for (std::size_t i = 1; i < 4; ++i)
                if (std::abs(v[i] - h[i]) > std::abs(v[j] - h[j])) j = i;
            h[j] = v[j];
            if (when.all_send(e) && r < 2) continue;
            for (std::size_t i = 0; i < 4; ++i)
                CHECK(sums[e][i] == doctest::Approx(known[0][i] + known[1][i] + known[2][i]).epsilon(1e-13));
        }
}

TEST_CASE("a silent rank forgets and remembers nothing, whatever its message is") {
    turn_schedule const when{3, true, false};
    host on;
    turn_memory<> memory(when, 1);
    memory.start(4);
    messages::full_vector<double, host> ones;
    ones.values.assign(4, 1);
    vec mean(4);
    for (std::uint64_t e = 0; e < 4; ++e) {  // it speaks in 0 and 2
        auto const before = saved(memory);
        memory.update(on, std::span<double const>(mean), ones);
        CHECK((saved(memory) == before) == !when.sends(e, 1));
        memory.reconstruct(on, round_context::of(key{1}, e, 1, 3), std::span(mean));
    }
}

TEST_CASE("the sender's failure is raised on all ranks, and a silent rank's numbers are not looked at") {
    turn_schedule const when{3, true, false};
    fibers::run(3, [&](fibers::member& comm) {
        host on;
        messages::full_vector<double, host> mine{vec(4, 1)};
        turn_mean<messages::full_vector<double, host>, double> by({when}, 4, position_code::smallest);
        turn_memory<> memory(when, comm.rank());
        memory.start(4);
        vec mean(4), bad{1, NAN, 0, 0};
        for (std::uint64_t e = 0; e < 4; ++e) {
            auto const own = detail::failure::not_finite(std::size_t(comm.rank())).by(comm.rank(), e);
            auto const now = round_context::of(key{1}, e, comm.rank(), 3);
            by.send(on, comm, now, mine, own);
            try {
                by.receive(
                    on, comm, now, mine, own,
                    [](auto& there, int, auto& m) { return identity{}.blank(there, 4, {}, m), identity{}; }, memory,
                    std::span(mean));
                CHECK(false);
            } catch (non_finite_error const& error) {
                CHECK(error.rank == (e == 0 ? 0 : int(e) - 1));
                CHECK(error.round == e);
            }
            vec delta = bad;
            CHECK(memory.make_delta(on, now, 1., std::span(delta)) == !when.sends(e, comm.rank()));
        }
    });
    CHECK(to_string(by_turns{{3, true, true}}) == "by_turns(3, batches)");
}
