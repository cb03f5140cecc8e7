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
        auto const blank = [](auto&, int, auto& m) { m.values.resize(1); };
        comm.all_gather(detail::written<double>(sink, 1, encoding, on, mine));
        detail::each_message(on, comm, blank, encoding, theirs, [&](int r, message const& m) {
            received[std::size_t(comm.rank())].emplace_back(r, m.values[0]);
        });
        std::vector<double> mean{5};
        detail::each_message(on, comm, blank, encoding, theirs, detail::adding_mean(on, 3, std::span(mean)));
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
