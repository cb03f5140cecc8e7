// SPDX-License-Identifier: Apache-2.0
#include "laconic/transport/rank_messages.hpp"

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"
#include "support/passed_on.hpp"

using laconic::detail::finish_all_gather;
using laconic::detail::start_all_gather;

TEST_CASE("each message by itself, in the order of ranks, and the mean of all of them") {
    std::vector<std::vector<std::pair<int, double>>> received(3);
    threads::run(3, [&](threads::member& comm) {
        host on;
        using message = messages::full_vector<double, host>;
        wire::by_host<message, host> encoding;
        message const mine{{10. * comm.rank()}};
        message theirs;
        wire::bit_writer sink;
        auto const blank = [](auto&, int, auto& m) { return m.values.resize(1), identity{}; };
        comm.all_gather(detail::written<double>(sink, 1, encoding, on, mine));
        for (int r = 0; r < 3; ++r) {
            detail::read_from(on, comm, r, blank, encoding, theirs);
            received[std::size_t(comm.rank())].emplace_back(r, theirs.values[0]);
        }
        std::vector<double> mean{5};
        detail::add_mean(on, comm, blank, encoding, theirs, std::span(mean));
        CHECK(mean[0] == doctest::Approx(15));
        detail::read_from(on, comm, 2, blank, encoding, theirs);
        CHECK(theirs.values[0] == 20);
        comm.all_gather({});
        std::string const expected = "from rank 1: ";
        std::string why;
        try {
            detail::read_from(on, comm, 1, blank, encoding, theirs);
        } catch (wire_error const& e) {
            why = e.why;
        }
        CHECK(why.substr(0, expected.size()) == expected);
    });
    for (auto const& each : received) CHECK(each == std::vector<std::pair<int, double>>{{0, 0}, {1, 10}, {2, 20}});
}

TEST_CASE("an all-gather in two halves: where the communicator carries them, in lanes; else the first is all of it") {
    using in_one_half = passed_on<fibers::member>;
    static_assert(Overlapping<fibers::member> && !Overlapping<in_one_half>);
    fibers::run(2, [](fibers::member& comm) {
        std::vector<std::byte> const bytes(std::size_t(2 + comm.rank()));
        start_all_gather(comm, {bytes, false}, 3);
        start_all_gather(comm, {std::span(bytes).first(1), true}, 4);
        finish_all_gather(comm, 3);
        CHECK((comm.from(0).bytes.size() == 2 && comm.from(1).bytes.size() == 3));
        finish_all_gather(comm, 4);
        CHECK((comm.from(1).bytes.size() == 1 && comm.from(1).is_error));
        in_one_half whole{&comm};
        start_all_gather(whole, {bytes, false}, 0);
        CHECK((whole.from(0).bytes.size() == 2 && whole.from(1).bytes.size() == 3));
        finish_all_gather(whole, 0);
        CHECK(whole.from(1).bytes.size() == 3);
    });
}

using laconic::detail::message_tag;

// What every rank sees where rank r sends `text` and, behind it, this tag, of which bit `flipped` is not as it was.
std::string seen(std::vector<std::uint32_t> const& tags, int flipped = -1) {
    std::vector<std::string> all(tags.size());
    fibers::run(static_cast<int>(tags.size()), [&](fibers::member& comm) {
        auto const r = static_cast<std::size_t>(comm.rank());
        round_context now;
        now.tag = tags[r];
        if (r == 1 && flipped >= 0) *now.tag ^= 1u << flipped;
        wire::bit_writer sink;
        sink.put(5, 3);  // not a whole byte
        comm.all_gather({detail::with_tag(sink, now)});
        CHECK(comm.from(comm.rank()).bytes.size() == 1 + detail::tag_length);
        detail::without_tags const messages(comm, now);
        try {
            messages.require_one();
            messages.require_readable();
            for (int i = 0; i < comm.size(); ++i) {
                REQUIRE(messages.from(i).bytes.size() == 1);
                CHECK(messages.from(i).bytes[0] == std::byte{5});
            }
            all[r] = "one";
        } catch (detail::tags_differ const&) {
            all[r] = "different";
        } catch (wire_error const& e) {
            all[r] = e.what();
        }
    });
    for (auto const& t : all) CHECK(t == all[0]);
    return all[0];
}

TEST_CASE("tags of one step and of the same settings are one, and those of an unknown setting go with any") {
    for (std::uint64_t step = 0; step < 600; step += 97) {
        CHECK(seen({message_tag(step, 7), message_tag(step, 7), message_tag(step, 7)}) == "one");
        CHECK(seen({message_tag(step, 0), message_tag(step, 7), message_tag(step, 0)}) == "one");
        CHECK(seen({message_tag(step, 7), message_tag(step, 8), message_tag(step, 7)}) == "different");
        CHECK(seen({message_tag(step, 0), message_tag(step, 8), message_tag(step, 7)}) == "different");
        for (std::uint64_t const apart : {1u, 2u, 255u})
            CHECK(seen({message_tag(step, 7), message_tag(step, 7), message_tag(step + apart, 7)}) == "different");
        CHECK(seen({message_tag(step, 0), message_tag(step + 1, 0)}) == "different");
    }
}

TEST_CASE("a tag with flipped bits is damaged, and no other tag") {
    for (std::uint64_t step = 0; step < 300; step += 43)
        for (int bit = 0; bit < 32; ++bit)
            CHECK(seen({message_tag(step, step), message_tag(step, step)}, bit) ==
                  "at bit 8 of a message: from rank 1: the tag behind it is damaged");
    static_assert(detail::tag_check(0) != 0);  // four zero bytes are no tag
}

TEST_CASE("no two or three flipped bits make another tag of a tag") {
    auto const is_one = [](std::uint32_t tag) { return tag >> 24 == detail::tag_check(tag & 0xffffffu); };
    std::uint32_t const tag = message_tag(5, 7);
    CHECK(is_one(tag));
    int seen_as_one = 0;
    for (std::uint32_t i = 0; i < 32; ++i)
        for (std::uint32_t j = 0; j < i; ++j) {
            seen_as_one += is_one(tag ^ 1u << i ^ 1u << j);
            for (std::uint32_t k = 0; k < j; ++k) seen_as_one += is_one(tag ^ 1u << i ^ 1u << j ^ 1u << k);
        }
    CHECK(seen_as_one == 0);
}

TEST_CASE("a payload that is shorter than a tag is damaged, and without tags payloads are as they are") {
    fibers::run(2, [](fibers::member& comm) {
        std::vector<std::byte> const three(3);
        comm.all_gather({three});
        round_context now;
        CHECK(detail::without_tags(comm, now).from(0).bytes.size() == 3);
        detail::without_tags(comm, now).require_one();
        detail::without_tags(comm, now).require_readable();
        now.tag = message_tag(0, 0);
        CHECK(detail::without_tags(comm, now).from(0).bytes.empty());
        CHECK_THROWS_AS(detail::without_tags(comm, now).require_readable(), wire_error);
    });
}

TEST_CASE("digests of neighbouring words differ in their low 16 bits, except for few") {
    int same = 0;
    for (std::uint64_t i = 0; i < 2000; ++i) same += message_tag(3, i + 1) == message_tag(3, i + 2);
    CHECK(same <= 2);
}
