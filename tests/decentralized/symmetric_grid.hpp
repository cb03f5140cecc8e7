// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "laconic/backend/arguments.hpp"
#include "laconic/compress/compressor.hpp"
#include "laconic/core/text.hpp"
#include "laconic/message/message.hpp"
#include "laconic/wire/number.hpp"

// The quantizer of Q-GADMM: 2^bits numbers from -R to R, where R is the largest magnitude, rounded to a float.
namespace networks {

struct grid_terms {
    static constexpr bool in_order = true;
    std::span<std::uint32_t const> codes;
    double radius, step;

    constexpr std::size_t size() const { return codes.size(); }
    constexpr laconic::messages::term<double> operator[](std::size_t j) const {
        return {static_cast<laconic::coordinate>(j), step * codes[j] - radius};
    }
};

struct grid_message {
    int bits = 1;
    float radius = 0;
    std::vector<std::uint32_t> codes;

    std::size_t dimension() const { return codes.size(); }
    bool fits(std::size_t n) const { return codes.size() == n; }
    grid_terms terms() const { return {codes, radius, 2. * radius / ((1 << bits) - 1)}; }
    bool operator==(grid_message const&) const = default;
};
template <laconic::wire::BitSink W>
void write(W& sink, grid_message const& m) {
    laconic::wire::put_number(sink, m.radius);
    for (auto const code : m.codes) sink.put(code, static_cast<unsigned>(m.bits));
}
template <class B>
void read(B&, laconic::wire::bit_reader& source, grid_message& m) {
    m.radius = laconic::wire::take_magnitude<float>(source, "radius");
    for (auto& code : m.codes) code = static_cast<std::uint32_t>(source.take(static_cast<unsigned>(m.bits)));
}

template <laconic::rounding Rounding>
struct symmetric_grid {
    template <laconic::Scalar, class>
    using message = grid_message;
    int bits = 8;

    void check(std::size_t) const {}
    void blank(auto&, std::size_t d, laconic::key, grid_message& m) const {
        m.bits = bits;
        m.codes.resize(d);
    }
    void operator()(auto& on, std::span<double const> x, laconic::key from, grid_message& m) const {
        blank(on, x.size(), from, m);
        double most = 0;
        for (double const v : x) most = std::max(most, std::abs(v));
        m.radius = static_cast<float>(most);
        if (m.radius < most) m.radius = std::nextafter(m.radius, HUGE_VALF);
        auto const [codes, radius, step] = m.terms();
        double const last = (1 << bits) - 1;
        for (std::size_t j = 0; j < x.size(); ++j) {
            double const at = step > 0 ? (x[j] + radius) / step : 0;
            double const up = Rounding == laconic::rounding::nearest ? .5 : from.uniform(j);
            m.codes[j] = static_cast<std::uint32_t>(std::clamp(std::floor(at + up), 0., last));
        }
    }
    bool operator==(symmetric_grid const&) const = default;
    friend std::string to_string(symmetric_grid const& c) {
        return laconic::detail::concat({"symmetric_grid(", c.bits, ")"});
    }
};

}  // namespace networks
