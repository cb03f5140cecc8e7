// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>

#include "laconic/compress/compressor.hpp"
#include "laconic/wire/described.hpp"
#include "laconic/wire/number.hpp"

/// Quantizers of a user's with messages of their own, as a user writes them: outside the library's namespace.
/// own_kinds.py reads the same.
namespace own {

/// Multiples of a step: number j is codes[j] x step, |codes[j]| <= levels().
template <laconic::Scalar T, class B>
struct multiples {
    using value_type = T;
    template <class Other>
    using for_backend = multiples<T, Other>;
    static constexpr unsigned user_kind = 130;

    T step = 1;
    unsigned width = 8;  ///< of a code in bits, 2 .. 16
    typename B::template array<std::int16_t> codes;

    struct decoded {
        T step;
        std::int16_t const* codes;
        constexpr T operator()(std::size_t j) const { return static_cast<T>(codes[j]) * step; }
    };
    static auto fields(auto& m) { return std::tie(m.step, m.width, m.codes); }
    int levels() const { return (1 << (width - 1)) - 1; }
    std::size_t dimension() const { return codes.size(); }
    laconic::messages::terms_in_order<decoded> terms() const& { return {{step, codes.data()}, codes.size()}; }
    bool operator==(multiples const&) const = default;

    laconic::reading_bounds per_number() const { return {.least_bits = width, .most_bytes = sizeof(std::int16_t)}; }
    void resize(std::size_t n) { codes.resize(n); }

    template <laconic::wire::BitSink W>
    friend void write_parameters(W& sink, multiples const& m) {
        laconic::wire::put_whole(sink, m.width);
        laconic::wire::put_number(sink, m.step);
    }
    friend void read_parameters(laconic::wire::bit_reader& source, multiples& m) {
        m.width = static_cast<unsigned>(laconic::wire::take_whole(source, 16));
        if (m.width < 2) source.refuse("codes of less than two bits");
        m.step = laconic::wire::take_magnitude<T>(source, "step");
        if (!std::isfinite(m.step * static_cast<T>(m.levels()))) source.refuse("a step whose multiples are not finite");
    }
    template <laconic::wire::BitSink W>
    friend void write(W& sink, multiples const& m) {
        sink.charge(laconic::wire::message_part::values);
        for (int const code : m.codes) sink.put(static_cast<std::uint64_t>(code + m.levels()), m.width);
    }
    template <class On>
    friend void read(On&, laconic::wire::bit_reader& source, multiples& m) {
        for (auto& code : m.codes) {
            auto const word = static_cast<int>(source.take(m.width));
            if (word > 2 * m.levels()) source.refuse("a code that there is not");
            code = static_cast<std::int16_t>(word - m.levels());
        }
    }
    friend double bits_as_paper(multiples const& m) { return m.width * static_cast<double>(m.codes.size()); }
};

/// The nearest multiple of `step` in reach.
struct round_to {
    double step = 0.25;
    unsigned width = 8;

    template <laconic::Scalar T, class B>
    using message = multiples<T, B>;

    void check(std::size_t) const {
        if (!(step > 0) || width < 2 || width > 16) throw laconic::argument_error("round_to: no such step or width");
    }
    template <class B, laconic::Scalar T>
    void blank(B&, std::size_t d, laconic::key, multiples<T, B>& m) const {
        laconic::messages::check_dimension(d);
        m.step = static_cast<T>(step);
        m.width = width;
        m.resize(d);
    }
    template <class B, laconic::Scalar T>
    void operator()(B& on, std::span<T const> x, laconic::key from, multiples<T, B>& m) const {
        blank(on, x.size(), from, m);
        T const most = static_cast<T>(m.levels());
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (!std::isfinite(x[i])) throw laconic::argument_error("round_to: a number that is not finite");
            m.codes[i] = static_cast<std::int16_t>(std::clamp(std::nearbyint(x[i] / m.step), -most, most));
        }
    }
    bool operator==(round_to const&) const = default;
    friend std::string to_string(round_to const& c) {
        return "round_to(" + std::to_string(c.step) + ", " + std::to_string(c.width) + ")";
    }
};

/// One number, which all coordinates are, and no parameters: no bit for each number.
template <laconic::Scalar T>
struct one_number {
    using value_type = T;
    static constexpr int user_kind = 255;

    std::size_t length = 0;
    T value = 0;

    std::size_t dimension() const { return length; }
    bool operator==(one_number const&) const = default;
    static laconic::reading_bounds per_number() { return {.least_bits = 0}; }
    void resize(std::size_t n) { length = n; }
    template <class W>
    friend void write(W& sink, one_number const& m) {
        laconic::wire::put_number(sink, m.value);
    }
    template <class B>
    friend void read(B&, laconic::wire::bit_reader& source, one_number& m) {
        m.value = laconic::wire::take_number<T>(source);
    }
    template <class B>
    friend void add_message(B&, std::span<T> out, T w, one_number const& m) {
        for (T& v : out) v += w * m.value;
    }
};

/// The mean of all numbers.
struct mean {
    template <laconic::Scalar T, class>
    using message = one_number<T>;

    void check(std::size_t) const {}
    template <class B, laconic::Scalar T>
    void blank(B&, std::size_t d, laconic::key, one_number<T>& m) const {
        laconic::messages::check_dimension(d);
        m = {d, 0};
    }
    template <class B, laconic::Scalar T>
    void operator()(B&, std::span<T const> x, laconic::key, one_number<T>& m) const {
        m = {x.size(), 0};
        for (T const v : x) m.value += v / static_cast<T>(x.size());
    }
    bool operator==(mean const&) const = default;
    friend std::string to_string(mean const&) { return "mean"; }
};

inline constexpr auto messages = laconic::user_messages<round_to, mean>;

}  // namespace own
