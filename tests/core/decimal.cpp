// SPDX-License-Identifier: Apache-2.0
// read_decimal reads what std::from_chars reads, also where it has to go through a stream.
#include "laconic/core/decimal.hpp"

#include "support/everything.hpp"

template <class T>
struct reading {
    std::ptrdiff_t length;
    std::errc error;
    std::string value;  // NaN is no number, but equal here
    bool operator==(reading const&) const = default;
};
template <class T, class Reader>
reading<T> read_with(std::string const& text, Reader reader) {
    T value = T(7);
    auto const r = reader(text.data(), text.data() + text.size(), value);
    return {r.ptr - text.data(), r.ec, std::isnan(value) ? "nan" : detail::shortest(static_cast<double>(value))};
}
template <class T>
void same(std::string const& text) {
    CAPTURE(text);
    auto const by_stream = read_with<T>(text, detail::decimal_by_stream<T>);
    CHECK(by_stream == read_with<T>(text, read_decimal<T>));
    CHECK(by_stream.length <= static_cast<std::ptrdiff_t>(text.size()));
}

TEST_CASE_TEMPLATE("by a stream a number is what std::from_chars reads, where the library has that", T, float, double) {
    for (char const* text : {"0",
                             "-0",
                             "1",
                             "-1.5e-3",
                             "1e+05",
                             "1e5x",
                             "1e",
                             "1e+",
                             "1e-x",
                             ".5",
                             "5.",
                             "-.",
                             ".",
                             "",
                             "-",
                             "+1",
                             " 1",
                             "0x10",
                             "1,5",
                             "1..2",
                             "1e400",
                             "-1e400",
                             "1e-400",
                             "1e-320",
                             "4e-45",
                             "1e-46",
                             "inf",
                             "-INF",
                             "Infinity",
                             "infinit",
                             "nan",
                             "-NaN",
                             "na",
                             "1e39",
                             "3.4028236e38",
                             "1.7976931348623159e308",
                             "2.2250738585072011e-308",
                             "1e99999999999",
                             "00001.50"})
        same<T>(text);
    // All kinds of bits, in as few digits as tell them apart.
    for (std::uint64_t i = 0; i < 2000; ++i) {
        auto const words = key{5}.words(i);
        same<T>(detail::shortest(std::bit_cast<double>(std::uint64_t{words[0]} << 32 | words[1])));
        same<T>(detail::shortest(static_cast<double>(std::bit_cast<float>(words[2]))));
    }
}

TEST_CASE("a number ends where its text does, and the rest is left") {
    double value = 0;
    std::string const text = "-12.5e1;";
    auto const r = read_decimal(text.data(), text.data() + text.size(), value);
    CHECK(value == -125);
    CHECK(*r.ptr == ';');
    CHECK(detail::decimal_by_stream(text.data(), text.data() + 6, value).ptr == text.data() + 5);
    CHECK(value == -12.5);
}
