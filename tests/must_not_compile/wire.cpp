// SPDX-License-Identifier: Apache-2.0
// What a message of a user's lacks in the self-describing form. See CMakeLists.txt here.
#include <cstddef>
#include <span>
#include <vector>

#include "laconic/wire/described.hpp"
#include "laconic/wire/number.hpp"

// expect WRITTEN_WITHOUT_KIND (40): M has no self-describing form: a message of your own needs static constexpr
// expect WITHOUT_VALUE_TYPE: M is not a user.s message: it needs using value_type = T
// expect KIND_IS_NOT_CONSTANT: M is not a user.s message: it needs static constexpr unsigned user_kind
// expect KIND_OF_THE_LIBRARY (60): M is not a user.s message: its user_kind is outside 128 .. 255
// expect KIND_OF_NINE_BITS: M is not a user.s message: its user_kind is outside 128 .. 255
// expect KIND_GIVEN_TWICE (40): user_messages<C...>: two of them have the same user_kind
// expect ONE_TYPE_GIVEN_TWICE: user_messages<C...>: two of them have the same user_kind
// expect READ_WITHOUT_KIND: M is not a user.s message: it needs static constexpr unsigned user_kind
// expect WITHOUT_DIMENSION: M is not a user.s message: it needs std::size_t dimension.. const
// expect WITHOUT_WRITE: M is not a user.s message: it needs write.sink, m.
// expect WITHOUT_READ (60): M is not a user.s message: it needs read.on, source, m.
// expect WITHOUT_WRITE_PARAMETERS: M is not a user.s message: it has read_parameters and lacks write_parameters
// expect WITHOUT_READ_PARAMETERS: M is not a user.s message: it has write_parameters and lacks read_parameters
// expect WITHOUT_BOUNDS (60): M is not a user.s message: it needs laconic::reading_bounds per_number.. const
// expect WITHOUT_RESIZE: M is not a user.s message: it needs void resize.std::size_t n.
// expect NO_MESSAGE_NAMED (40): user_messages<C>: C names no message

namespace {

template <unsigned Kind>
struct numbers {
#if !defined(WITHOUT_VALUE_TYPE)
    using value_type = double;
#endif
#if defined(KIND_IS_NOT_CONSTANT)
    unsigned user_kind = Kind;
#elif defined(KIND_OF_THE_LIBRARY)
    static constexpr unsigned user_kind = 17;
#elif defined(KIND_OF_NINE_BITS)
    static constexpr int user_kind = 256;
#elif !defined(WRITTEN_WITHOUT_KIND) && !defined(READ_WITHOUT_KIND)
    static constexpr unsigned user_kind = Kind;
#endif
    double first = 0;
    std::vector<double> values;

#if !defined(WITHOUT_DIMENSION)
    std::size_t dimension() const { return values.size(); }
#endif
    bool operator==(numbers const&) const = default;
#if !defined(WITHOUT_BOUNDS)
    laconic::reading_bounds per_number() const { return {.least_bits = 64, .most_bytes = 8}; }
#endif
#if !defined(WITHOUT_RESIZE)
    void resize(std::size_t n) { values.resize(n); }
#endif
#if !defined(WITHOUT_WRITE_PARAMETERS)
    friend void write_parameters(auto& sink, numbers const& m) { laconic::wire::put_number(sink, m.first); }
#endif
#if !defined(WITHOUT_READ_PARAMETERS)
    friend void read_parameters(auto& source, numbers& m) { m.first = laconic::wire::take_number<double>(source); }
#endif
#if !defined(WITHOUT_WRITE)
    friend void write(auto& sink, numbers const& m) { laconic::wire::put_numbers(sink, m.values); }
#endif
#if !defined(WITHOUT_READ)
    friend void read(auto&, auto& source, numbers& m) { laconic::wire::take_numbers(source, m.values); }
#endif
    friend void add_message(auto&, std::span<double> out, double w, numbers const& m) {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] += w * (m.first + m.values[i]);
    }
};

template <unsigned Kind>
struct sends {
#if !defined(NO_MESSAGE_NAMED)
    template <laconic::Scalar T, class B>
    using message = numbers<Kind>;
#endif
};

#if !defined(READ_WITHOUT_KIND)
[[maybe_unused]] auto written() { return laconic::write_described(numbers<130>{}); }
#endif

#if !defined(WRITTEN_WITHOUT_KIND)
[[maybe_unused]] auto read_back(std::span<std::byte const> file) {
#    if defined(KIND_GIVEN_TWICE)
    struct again : sends<130> {};
    return laconic::read_described(file, {}, laconic::user_messages<sends<130>, sends<131>, again>);
#    elif defined(ONE_TYPE_GIVEN_TWICE)
    return laconic::read_described(file, {}, laconic::user_messages<sends<130>, sends<130>>);
#    else
    return laconic::read_described(file, {}, laconic::user_messages<sends<130>, sends<131>>);
#    endif
}
#endif

}  // namespace
