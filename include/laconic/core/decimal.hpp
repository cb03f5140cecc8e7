// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <locale>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

#include "laconic/core/contract.hpp"

namespace laconic {

namespace detail {

// The end of the decimal number, with its sign, that starts at `begin`; `begin` where none does.
inline char const* end_of_decimal(char const* begin, char const* end) {
    auto const digits = [end](char const* p) {
        while (p != end && *p >= '0' && *p <= '9') ++p;
        return p;
    };
    char const* const first = begin != end && *begin == '-' ? begin + 1 : begin;
    char const* p = digits(first);
    bool some = p != first;
    if (p != end && *p == '.') {
        char const* const fraction = digits(p + 1);
        some = some || fraction != p + 1;
        p = fraction;
    }
    if (!some) return begin;
    if (p != end && (*p == 'e' || *p == 'E')) {
        char const* const sign = p + 1 != end && (p[1] == '+' || p[1] == '-') ? p + 2 : p + 1;
        if (char const* const exponent = digits(sign); exponent != sign) p = exponent;
    }
    return p;
}

// The same as std::from_chars, by a stream. "infinity" and "nan" are read without a payload.
template <std::floating_point T>
std::from_chars_result decimal_by_stream(char const* begin, char const* end, T& value) {
    if (char const* const last = end_of_decimal(begin, end); last != begin) {
        std::string const text(begin, last);
        std::istringstream stream(text);
        stream.imbue(std::locale::classic());
        T read{};
        bool const failed = (stream >> read).fail();
        // Some streams fail on subnormal numbers although they store them; some store 0 for a number that is too small.
        bool const is_zero = text.find_first_of("123456789") >= text.find_first_of("eE");
        if (read == 0 ? !is_zero : failed && std::abs(read) >= std::numeric_limits<T>::min())
            return {last, std::errc::result_out_of_range};
        value = read;
        return {last, std::errc{}};
    }
    bool const minus = begin != end && *begin == '-';
    std::string_view const word(begin + minus, end);
    for (std::string_view const name : {"infinity", "inf", "nan"}) {
        bool same = word.size() >= name.size();
        for (std::size_t i = 0; same && i < name.size(); ++i) same = (word[i] | ' ') == name[i];
        if (!same) continue;
        value = name == "nan" ? std::numeric_limits<T>::quiet_NaN() : std::numeric_limits<T>::infinity();
        if (minus) value = -value;
        return {word.data() + name.size(), std::errc{}};
    }
    return {begin, std::errc::invalid_argument};
}

}  // namespace detail

/// std::from_chars of a floating-point number, also with standard libraries that lack it, such as libc++ before 20.
template <std::floating_point T>
std::from_chars_result read_decimal(char const* begin, char const* end, T& value) {
    if constexpr (requires { std::from_chars(begin, end, value); })
        return std::from_chars(begin, end, value);
    else
        return detail::decimal_by_stream(begin, end, value);
}

}  // namespace laconic
