// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/compress/pipe.hpp"
#include "laconic/message/wrappers.hpp"

/// Compressors that hold others, of which they make the same message in parts, or scaled.
namespace laconic {

/// A vector as consecutive parts, such as the layers of a network, each with a compressor of its own: parts<C>{{6, a},
/// {2, b}} compresses vectors of 8 numbers. C may be any_compressor<T>, so that parts of different kinds mix. Part i
/// draws from child i of the key. The errors of the parts add up, as their energies do, so that
///     omega = the parts' largest,    delta = the parts' smallest, where 1 - omega stands for the delta of a part
/// that is unbiased only. Each is attained where everything is in the worst part.
template <class C>
struct parts {
    struct piece {
        std::size_t length = 0;
        C compressor{};

        static constexpr void description(auto&& describe) {
            describe("part", "", "", field("length", &piece::length).between(0, 0x1p32).needed(),
                     field("compressor", &piece::compressor).needed());
        }
        friend std::string to_string(std::vector<piece> const& all) {
            std::string text;
            for (auto const& p : all)
                text += detail::concat({(text.empty() ? "" : ", "), p.length, ", ", to_string(p.compressor)});
            return text;
        }
        bool operator==(piece const&) const = default;
    };
    std::vector<piece> pieces;

    parts() = default;
    parts(std::initializer_list<piece> list) : pieces(list) {}
    explicit parts(std::vector<piece> list) : pieces(std::move(list)) {}

    static constexpr void description(auto&& describe) {
        describe("parts", "consecutive parts, each with its own C", "",
                 field("length, C, length, C, ...", &parts::pieces).needed());
    }

    template <Scalar T, class B>
    using message = messages::parts_of<detail::message_of<C, T, B>>;

    /// The sum of the lengths, or the largest std::size_t where the sum is above it.
    std::size_t length() const {
        std::size_t sum = 0;
        for (auto const& p : pieces) sum += std::min(p.length, std::numeric_limits<std::size_t>::max() - sum);
        return sum;
    }

    void check(std::size_t d) const {
        require_sum(d);
        for (auto const& p : pieces) p.compressor.check(p.length);
    }
    /// Where d is not the sum of the lengths it makes a message which every reader refuses.
    void blank(auto& on, std::size_t d, key from, auto& m) const {
        messages::check_dimension(d);
        m.count = d;
        m.each.resize(length() == d ? pieces.size() : 0);
        for (std::size_t i = 0; i < m.each.size(); ++i)
            pieces[i].compressor.blank(on, pieces[i].length, from.child(i), m.each[i]);
    }
    /// Throws argument_error where the lengths do not add up to x's, and whatever the parts' compressors throw.
    void operator()(auto& on, auto x, key from, auto& m) const {
        messages::check_dimension(x.size());
        require_sum(x.size());
        m.count = x.size();
        m.each.resize(pieces.size());
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            pieces[i].compressor(on, x.first(pieces[i].length), from.child(i), m.each[i]);
            x = x.subspan(pieces[i].length);
        }
    }
    bool unbiased() const requires Unbiased<C> {
        return std::all_of(pieces.begin(), pieces.end(), [](auto const& p) { return is_unbiased(p.compressor); });
    }
    bool contractive() const requires Contractive<C> {
        return std::all_of(pieces.begin(), pieces.end(),
                           [](auto const& p) { return is_contractive(p.compressor) || is_unbiased(p.compressor); });
    }
    double omega(std::size_t d) const requires Unbiased<C> {
        require_sum(d);
        double largest = 0;
        for (auto const& p : pieces)
            if (p.length > 0) largest = std::max(largest, p.compressor.omega(p.length));
        return largest;
    }
    double delta(std::size_t d) const requires Contractive<C> {
        require_sum(d);
        double least = 1;
        for (auto const& p : pieces)
            if (p.length > 0) least = std::min(least, detail::kept_by(p.compressor, p.length));
        return least;
    }

    bool operator==(parts const&) const = default;

  private:
    void require_sum(std::size_t d) const {
        if (length() != d)
            throw argument_error(
                {"parts: ", pieces.size(), " of ", length(), " numbers in all, where the vector has d = ", d});
    }
};

/// C(x) / (1 + omega) of an unbiased C: contractive with delta = 1 / (1 + omega) (Richtarik, Sokolov, Fatkhullin, EF21,
/// NeurIPS 2021, lemma 8), so that any unbiased compressor can serve a method for contractive ones. Both ends know the
/// factor, so it costs no bits. scaled_down{rand_k{k}} is rand_k without its scale.
template <class C>
struct scaled_down {
    static_assert(detail::require_members<C>());
    static_assert(Unbiased<C>,
                  "scaled_down needs an unbiased compressor, one with omega(d); a contractive one needs no scaling");
    C inside{};

    static constexpr void description(auto&& describe) {
        describe("scaled_down", "an unbiased C over 1 + omega; contractive",
                 "Richtarik, Sokolov, Fatkhullin, NeurIPS 2021", field("compressor", &scaled_down::inside).needed());
    }

    template <Scalar T, class B>
    using message = messages::scaled<detail::message_of<C, T, B>, T>;

    /// Throws theory_error where the omega of the inner compressor is not known.
    void check(std::size_t d) const {
        inside.check(d);
        static_cast<void>(inside.omega(d));
    }
    template <Scalar T, class M>
    void blank(auto& on, std::size_t d, key from, messages::scaled<M, T>& m) const {
        messages::check_dimension(d);
        m.factor = static_cast<T>(delta(d));
        inside.blank(on, d, from, m.inside);
    }
    template <Scalar T, class M>
    void operator()(auto& on, std::span<T const> x, key from, messages::scaled<M, T>& m) const {
        messages::check_dimension(x.size());
        m.factor = static_cast<T>(delta(x.size()));
        inside(on, x, from, m.inside);
    }
    bool contractive() const { return is_unbiased(inside); }
    double delta(std::size_t d) const { return 1 / (1 + inside.omega(d)); }

    bool operator==(scaled_down const&) const = default;
};
template <class C>
scaled_down(C) -> scaled_down<C>;

}  // namespace laconic
