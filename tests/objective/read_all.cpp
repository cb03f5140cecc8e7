// SPDX-License-Identifier: Apache-2.0
// Bytes come until a stream ends, whatever it throws there, and a broken one is refused by name.
#include "laconic/objective/read_all.hpp"

#include <fstream>
#include <istream>
#include <streambuf>

#include "support/everything.hpp"

using laconic::detail::read_all;

struct broken_buffer : std::streambuf {
    int_type underflow() override { throw std::ios_base::failure("a bad sector"); }
};

TEST_CASE("bytes come until the stream ends, whatever it throws at its end") {
    std::string const text = std::string(1 << 16, 'x') + "abcde";
    for (auto const& all : {std::string("abcde"), text}) {
        std::istringstream in(all);
        in.exceptions(std::ios::failbit | std::ios::badbit | std::ios::eofbit);
        CHECK(read_all(in, "five") == all);
        CHECK(read_all(in, "five").empty());
        CHECK(in.good());
    }
}

TEST_CASE("a stream that is not there, or whose buffer throws, is refused by name") {
    std::ifstream missing("/no/such/file");
    CHECK_THROWS_WITH_AS(read_all(missing, "m"), "m: cannot be read", laconic::file_error);
    std::istream none(nullptr);
    CHECK_THROWS_WITH_AS(read_all(none, "n"), "n: cannot be read", laconic::file_error);
    std::ifstream folder("/");
    CHECK_THROWS_WITH_AS(read_all(folder, "f"), "f: cannot be read to its end", laconic::file_error);
    broken_buffer buffer;
    std::istream broken(&buffer);
    CHECK_THROWS_WITH_AS(read_all(broken, "b"), "b: cannot be read to its end", laconic::file_error);
}
