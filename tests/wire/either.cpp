// SPDX-License-Identifier: Apache-2.0
// either is encoded, described and read as the message that it is.
#include "laconic/wire/either.hpp"

#include "support/everything.hpp"

using namespace laconic;
using namespace laconic::messages;
using namespace laconic::wire;

namespace {

using numbers = full_vector<double, host>;
using rounded = detail::message_of<quantize>;
using choice = either<numbers, rounded>;

template <class M>
std::vector<std::byte> written(M const& m) {
    bit_writer sink;
    write(sink, m);
    auto const bytes = sink.finish();
    return {bytes.begin(), bytes.end()};
}
template <class M>
std::vector<std::byte> shape_of(M const& m) {
    bit_writer sink;
    write_shape(sink, m);
    auto const bytes = sink.finish();
    return {bytes.begin(), bytes.end()};
}

choice example() {
    std::vector<double> const x{1, -2, 3};
    return {true, {{4, 5}}, compress(quantize{4}, x, key{1})};
}

}  // namespace

TEST_CASE("it is encoded, described and counted as the one that it is") {
    auto m = example();
    CHECK(written(m) == written(m.first));
    CHECK(written(m) != written(m.second));
    CHECK(shape_of(m) == shape_of(m.first));
    CHECK(bits(m) == 128);
    CHECK(bits_as_paper(m) == 128);
    m.is_first = false;
    CHECK(written(m) == written(m.second));
    CHECK(shape_of(m) == shape_of(m.second));
    CHECK(shape_of(m) != shape_of(m.first));
    CHECK(bits_as_paper(m) == bits_as_paper(m.second));
}

TEST_CASE("it is read as the one that the blank is") {
    host on;
    for (bool const is_first : {true, false}) {
        auto m = example();
        m.is_first = is_first;
        auto const bytes = written(m);
        choice received{is_first, {{0, 0}}, {}};
        quantize{4}.blank(on, 3, key{1}, received.second);
        bit_reader source(bytes);
        read(on, source, received);
        source.finish();
        CHECK(received == m);
    }
}
