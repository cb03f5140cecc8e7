// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include "laconic/compress/pipe.hpp"
#include "laconic/message/turned.hpp"

namespace laconic {

/// Hands the cosines of the vector to its rest, in place of its numbers: the orthonormal transform DCT-II of pieces of
/// `side` consecutive numbers, or of the squares of side x side numbers of a matrix with `rows` rows, one square after
/// another. A side that divides no length becomes the largest divisor below it. In a layer
/// of a matrix whose sides 64 divides, dct{} | top_k{32, 4096} keeps the 32 largest of each square of 64 x 64 (DeMo;
/// Peng, Quesnelle, Kingma, arXiv:2411.19870); with other sides the chunk is the number of coordinates of a square.
///
/// The transform keeps lengths, up to rounding, so omega and delta are the rest's. All ranks compute it in the same
/// order of sums. Cost: 2 side d multiplications for a matrix by whoever sends it, and twice that by whoever reads it,
/// once to check it; memory 2 d numbers, for a matrix 3 d and d coordinates, and 2 side^2. Its messages have no
/// self-describing form. A layer of a reducer that states its rows gives them to a dct of one row.
template <class Rest = identity>
struct dct {
    std::size_t side = 64, rows = 1;
    Rest rest{};

    static constexpr void description(auto&& describe) {
        describe("dct", "the cosines of pieces or squares; constants of its rest", "DeMo, arXiv:2411.19870",
                 field("side", &dct::side).between(1, 4096), field("rows", &dct::rows).between(1, 0x1p53));
    }

    template <Scalar T, class B>
    using message = messages::turned<detail::message_of<Rest, T, B>, T, B>;

    void check(std::size_t d) const {
        detail::check_fields(*this);
        if (d % rows != 0) throw argument_error({"dct: d = ", d, " numbers are no matrix of ", rows, " rows"});
        rest.check(d);
    }
    void shape(std::size_t d, std::size_t of_layer) {
        if (rows == 1 && of_layer >= 2) rows = of_layer;
        if constexpr (requires { rest.shape(d, of_layer); }) rest.shape(d, of_layer);
    }
    void blank(auto& on, std::size_t d, key from, auto& m) const {
        messages::check_dimension(d);
        begin(d, m);
        rest.blank(on, d, from.child(0), m.inside);
    }
    /// Throws argument_error where a number is not finite, or a cosine is beyond the largest number of its type.
    template <Scalar T>
    void operator()(auto& on, std::span<T const> x, key from, auto& m) const {
        messages::check_dimension(x.size());
        check(x.size());
        detail::require_finite(on, "dct", x);
        begin(x.size(), m);
        m.cosines.prepare(on, x.size(), rows, side);
        m.cosines.forward(on, x, m.numbers);
        detail::require_finite(on, "dct: a cosine", std::span<T const>(m.numbers));
        rest(on, std::span<T const>(m.numbers), from.child(0), m.inside);
    }
    /// Refuses a message whose numbers are not finite.
    void read_message(auto& on, auto& source, auto& m) const {
        read(on, source, m.inside, rest);
        if (auto const numbers = m.decoded(on); first_non_finite(on, numbers) < numbers.size())
            source.refuse("cosines whose numbers are not finite");
    }
    bool unbiased() const requires Unbiased<Rest> { return is_unbiased(rest); }
    bool contractive() const requires Contractive<Rest> { return is_contractive(rest); }
    double omega(std::size_t d) const requires Unbiased<Rest> { return rest.omega(d); }
    double delta(std::size_t d) const requires Contractive<Rest> { return rest.delta(d); }

    constexpr auto with(auto const& r) const { return dct<std::remove_cvref_t<decltype(r)>>{side, rows, r}; }
    bool operator==(dct const&) const = default;

  private:
    void begin(std::size_t d, auto& m) const { m.count = d, m.rows = rows, m.side = side; }
};

}  // namespace laconic
