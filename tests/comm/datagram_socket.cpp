// SPDX-License-Identifier: Apache-2.0
// Datagrams arrive as they were sent, alone or together, each with its length and its sender's address.
#include "laconic/comm/datagram_socket.hpp"

#include "support/everything.hpp"

using detail::datagram_socket;
using detail::find_place;

std::vector<std::byte> numbered(std::size_t length) {
    std::vector<std::byte> bytes(length);
    for (std::size_t i = 0; i < length; ++i) bytes[i] = std::byte(i * 7 % 251);
    return bytes;
}

// Everything that comes within a second, as packets, until there are so many bytes.
std::vector<std::vector<std::byte>> packets_at(datagram_socket& socket, std::size_t bytes) {
    std::vector<std::vector<std::byte>> all;
    for (std::size_t here = 0; here < bytes;) {
        socket.wait(1);
        auto const a = socket.receive();
        if (a.bytes.empty()) break;
        for (std::size_t at = 0; at < a.bytes.size(); at += a.length) {
            auto const one = a.bytes.subspan(at, std::min(a.length, a.bytes.size() - at));
            all.emplace_back(one.begin(), one.end());
            here += one.size();
        }
    }
    return all;
}

TEST_CASE("packets arrive as they were, together or alone, each of its length") {
    datagram_socket from("127.0.0.1:0", 1 << 20), to("127.0.0.1:0", 1 << 20);
    auto where = find_place(to.address());
    struct {
        std::size_t bytes, length;
    } const sent[] = {{1, 1},      {100, 100},    {1037, 100},   {1000, 100},
                      {1500, 499}, {64, 1},       {64768, 1472}, {datagram_socket::longest_together, 1250},
                      {5, 1000},   {70000, 35000}};  // more than goes together
    for (auto const& s : sent) {
        CAPTURE(s.bytes);
        CAPTURE(s.length);
        auto const bytes = numbered(s.bytes);
        from.send(where, bytes, s.length);
        auto const here = packets_at(to, s.bytes);
        REQUIRE(here.size() == (s.bytes + s.length - 1) / s.length);
        std::vector<std::byte> joined;
        for (std::size_t i = 0; i < here.size(); ++i) {
            CHECK(here[i].size() == std::min(s.length, s.bytes - i * s.length));
            joined.insert(joined.end(), here[i].begin(), here[i].end());
        }
        CHECK(joined == bytes);
    }
    CHECK(to.receive().bytes.empty());
}

TEST_CASE("who sent it is known by its address") {
    datagram_socket here("127.0.0.1:0", 4096), one("127.0.0.1:0", 4096), two("127.0.0.1:0", 4096);
    auto where = find_place(here.address());
    for (auto* const socket : {&two, &one}) {
        socket->send(where, numbered(3), 3);
        here.wait(1);
        CHECK(here.receive().from.name() == find_place(socket->address()).name());
    }
    CHECK_THROWS_WITH_AS(find_place("127.0.0.1:65616"), "'127.0.0.1:65616': a port is at most 65535", argument_error);
    CHECK(find_place("127.0.0.1:80").name() != find_place("127.0.0.1:81").name());
    CHECK(find_place("127.0.0.1:80").name() != find_place("127.0.0.2:80").name());
}

TEST_CASE("a packet that no datagram can be is an error, not a loss") {
    datagram_socket from("127.0.0.1:0", 1 << 20), to("127.0.0.1:0", 1 << 20);
    auto where = find_place(to.address());
    auto const bytes = numbered(70000);
    CHECK_THROWS_AS(from.send(where, bytes, bytes.size()), comm_error);
    CHECK(to.receive().bytes.empty());
}

TEST_CASE("a socket that has been moved from is not closed twice") {
    datagram_socket first("127.0.0.1:0", 4096);
    auto const address = first.address();
    datagram_socket const second(std::move(first));
    CHECK(second.address() == address);
    CHECK_THROWS_AS(datagram_socket(address, 4096), comm_error);  // is still taken
}
