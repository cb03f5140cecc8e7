// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <limits>
#include <span>
#include <type_traits>

#include "laconic/compress/pipe.hpp"
#include "laconic/message/turned.hpp"

/// Orthonormal transforms before a compressor, which then has the numbers of the transform in place of the vector's.
namespace laconic::detail {

// What they have in common. c.begin(transform, d, from) sets what the message's transform has.

void blank_turned(auto& on, auto const& c, std::size_t d, key from, auto& m) {
    messages::check_dimension(d);
    c.begin(m.transform, d, from);
    c.rest.blank(on, d, from.child(0), m.inside);
}
/// Throws argument_error where a number is not finite, or becomes too large for its type.
template <Scalar T>
void compress_turned(auto& on, auto const& c, char const* name, std::span<T const> x, key from, auto& m) {
    messages::check_dimension(x.size());
    c.check(x.size());
    require_finite(on, name, x);
    c.begin(m.transform, x.size(), from);
    m.transform.forward(on, x, m.numbers);
    if (first_non_finite(on, std::span<T const>(m.numbers)) < x.size())
        throw argument_error({name, ": a number of the transform is beyond the largest of its type"});
    c.rest(on, std::span<T const>(m.numbers), from.child(0), m.inside);
}
/// Refuses a message whose numbers are not finite. Turning back makes none, also on the way, that is larger than the
/// sum of all magnitudes, so it is done only where that may come near the largest number of its type.
void read_turned(auto& on, auto const& c, auto& source, auto& m) {
    read(on, source, m.inside, c.rest);
    using T = typename std::remove_cvref_t<decltype(m)>::value_type;
    auto const y = m.turned_numbers(on);
    double const sum = static_cast<double>(largest_magnitude(on, y)) * static_cast<double>(y.size());  // at most
    if (sum <= static_cast<double>(std::numeric_limits<T>::max()) / 2) return;
    if (auto const numbers = m.decoded(on); first_non_finite(on, numbers) < numbers.size())
        source.refuse("a transform whose numbers are not finite");
}

}  // namespace laconic::detail

namespace laconic {

/// Hands the cosines of the vector to its rest, in place of its numbers: the orthonormal transform DCT-II of pieces of
/// `side` consecutive numbers, or of the squares of side x side numbers of a matrix with `rows` rows, one square after
/// another. A side that divides no length becomes the largest divisor below it. In a layer
/// of a matrix whose sides 64 divides, dct{} | top_k{32, 4096} keeps the 32 largest of each square of 64 x 64 (DeMo;
/// Peng, Quesnelle, Kingma, arXiv:2411.19870); with other sides the chunk is the number of coordinates of a square.
///
/// The transform keeps lengths, up to rounding, so omega and delta are the rest's. All ranks compute it in the same
/// order of sums. Cost: 2 side d multiplications for a matrix by whoever sends it, and by whoever reads messages, once
/// for those of all ranks; memory 2 d numbers, for a matrix 3 d and d coordinates, and 2 side^2. Its messages have no
/// self-describing form. A layer of a reducer that states its rows gives them to a dct of one row.
template <class Rest = identity>
struct dct {
    std::size_t side = 64, rows = 1;
    Rest rest{};

    static constexpr void description(auto&& describe) {
        describe("dct", "the cosines of pieces or squares; constants of its rest",
                 "DeMo, arXiv:2411.19870; DisTrO: nousnet", field("side", &dct::side).between(1, 4096),
                 field("rows", &dct::rows).between(1, 0x1p53));
    }

    template <Scalar T, class B>
    using message = messages::turned<detail::message_of<Rest, T, B>, detail::square_cosines<T, B>>;

    void check(std::size_t d) const {
        detail::check_fields(*this);
        if (d % rows != 0) throw argument_error({"dct: d = ", d, " numbers are no matrix of ", rows, " rows"});
        rest.check(d);
    }
    void shape(std::size_t d, std::size_t of_layer) {
        if (rows == 1 && of_layer >= 2) rows = of_layer;
        if constexpr (requires { rest.shape(d, of_layer); }) rest.shape(d, of_layer);
    }
    void begin(auto& transform, std::size_t d, key) const {
        transform.count = d, transform.rows = rows, transform.side = side;
    }
    void blank(auto& on, std::size_t d, key from, auto& m) const { detail::blank_turned(on, *this, d, from, m); }
    void operator()(auto& on, auto x, key from, auto& m) const {
        detail::compress_turned(on, *this, "dct", x, from, m);
    }
    void read_message(auto& on, auto& source, auto& m) const { detail::read_turned(on, *this, source, m); }
    bool unbiased() const requires Unbiased<Rest> { return is_unbiased(rest); }
    bool contractive() const requires Contractive<Rest> { return is_contractive(rest); }
    double omega(std::size_t d) const requires Unbiased<Rest> { return rest.omega(d); }
    double delta(std::size_t d) const requires Contractive<Rest> { return rest.delta(d); }

    constexpr auto with(auto const& r) const { return dct<std::remove_cvref_t<decltype(r)>>{side, rows, r}; }
    bool operator==(dct const&) const = default;
};

/// Rotates the vector at random before its rest, in blocks of `block` consecutive numbers, a power of two: y = H D x /
/// sqrt(block), with signs D that both ends draw from the key, for each message and rank anew, and Hadamard's matrix H
/// (Suresh, Yu, Kumar, McMahan, ICML 2017). Unless a few numbers are nearly all of a block's length, those of y are
/// about normal, with a standard deviation of the block's |x| / sqrt(block), as a quantizer with buckets of that length
/// would have them; in any case hardly one is much larger than the others. A vector shorter than `block` has blocks of
/// the largest power of two in it, and numbers behind the last block are rotated with those before them, so that y is
/// never longer than x.
///
/// Then a `centroids` for normal numbers is EDEN (Vargaftik et al., ICML 2022), with one bit DRIVE (NeurIPS 2021):
/// hadamard{} | centroids{2, 4096}, but in blocks, and with a scale for each. The rotation keeps lengths, up to
/// rounding, so omega and delta are the rest's. Cost: log2(block) additions for each number by whoever sends it
/// and whoever reads it; memory d numbers. Its messages have no self-describing form.
template <class Rest = identity>
struct hadamard {
    std::size_t block = 4096;
    Rest rest{};

    static constexpr void description(auto&& describe) {
        describe("hadamard", "a random rotation of blocks; constants of its rest", "Suresh et al., ICML 2017",
                 field("block", &hadamard::block).between(1, 0x1p31));
    }

    template <Scalar T, class B>
    using message = messages::turned<detail::message_of<Rest, T, B>, detail::random_rotation<T, B>>;

    void check(std::size_t d) const {
        detail::check_fields(*this);
        if (!std::has_single_bit(block)) throw argument_error({"hadamard: a block of ", block, " is no power of two"});
        rest.check(d);
    }
    void shape(std::size_t d, std::size_t of_layer) requires requires { rest.shape(d, of_layer); }
    { rest.shape(d, of_layer); }
    void begin(auto& transform, std::size_t d, key from) const {
        transform.count = d, transform.longest = block, transform.from = {from.common};
    }
    void blank(auto& on, std::size_t d, key from, auto& m) const { detail::blank_turned(on, *this, d, from, m); }
    void operator()(auto& on, auto x, key from, auto& m) const {
        detail::compress_turned(on, *this, "hadamard", x, from, m);
    }
    void read_message(auto& on, auto& source, auto& m) const { detail::read_turned(on, *this, source, m); }
    bool unbiased() const requires Unbiased<Rest> { return is_unbiased(rest); }
    bool contractive() const requires Contractive<Rest> { return is_contractive(rest); }
    double omega(std::size_t d) const requires Unbiased<Rest> { return rest.omega(d); }
    double delta(std::size_t d) const requires Contractive<Rest> { return rest.delta(d); }

    constexpr auto with(auto const& r) const { return hadamard<std::remove_cvref_t<decltype(r)>>{block, r}; }
    bool operator==(hadamard const&) const = default;
};

}  // namespace laconic
