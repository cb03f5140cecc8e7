// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "laconic/compress/pipe.hpp"

namespace laconic {

/// The sparsifier that keeps every coordinate: dense | quantize{4} makes the same messages as quantize{4} alone.
template <class Rest = identity>
struct dense {
    Rest rest{};

    static constexpr void description(auto&& describe) { describe("dense", "every coordinate", ""); }

    template <Scalar T, class B>
    using message = detail::message_of<Rest, T, B>;

    void check(std::size_t d) const { rest.check(d); }
    template <class B, class M>
    void blank(B& on, std::size_t d, key from, M& m) const {
        rest.blank(on, d, from, m);
    }
    template <class B, Scalar T, class M>
    void operator()(B& on, std::span<T const> x, key from, M& m) const {
        rest(on, x, from, m);
    }
    bool unbiased() const requires Unbiased<Rest> { return is_unbiased(rest); }
    bool contractive() const requires Contractive<Rest> { return is_contractive(rest); }
    double omega(std::size_t d) const requires Unbiased<Rest> { return rest.omega(d); }
    double delta(std::size_t d) const requires Contractive<Rest> { return rest.delta(d); }

    template <class R>
    constexpr auto with(R const& r) const {
        return dense<R>{r};
    }
    bool operator==(dense const&) const = default;
};

}  // namespace laconic
