// SPDX-License-Identifier: Apache-2.0
// Bytes come until a stream ends, whatever it throws there, and a broken one is refused by name.
#include "laconic/objective/stream_bytes.hpp"

#include <fstream>
#include <istream>
#include <streambuf>

#include "support/everything.hpp"

using laconic::detail::stream_bytes;

struct broken_buffer : std::streambuf {
    int_type underflow() override { throw std::ios_base::failure("a bad sector"); }
};

TEST_CASE("bytes come until the stream ends, whatever it throws at its end") {
    std::istringstream in("abcde");
    in.exceptions(std::ios::failbit | std::ios::badbit | std::ios::eofbit);
    stream_bytes bytes(in, "five");
    char to[4] = {};
    CHECK(bytes.read(to, 4) == 4);
    CHECK(std::string(to, 4) == "abcd");
    CHECK(bytes.read(to, 4) == 1);
    CHECK(to[0] == 'e');
    CHECK(bytes.read(to, 4) == 0);
    CHECK(in.good());
    CHECK(bytes.name() == "five");
}

TEST_CASE("a stream that is not there, or whose buffer throws, is refused by name") {
    std::ifstream missing("/no/such/file");
    CHECK_THROWS_WITH_AS(stream_bytes(missing, "m"), "m: cannot be read", laconic::file_error);
    std::istream none(nullptr);
    CHECK_THROWS_WITH_AS(stream_bytes(none, "n"), "n: cannot be read", laconic::file_error);
    broken_buffer buffer;
    std::istream broken(&buffer);
    stream_bytes bytes(broken, "b");
    char to[4];
    CHECK_THROWS_WITH_AS(bytes.read(to, 4), "b: cannot be read to its end", laconic::file_error);
}
