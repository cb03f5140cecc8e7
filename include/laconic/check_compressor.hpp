// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "laconic/compress/pipe.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/compressor_laws.hpp"
#include "laconic/wire/described.hpp"

namespace laconic {

/// The settings with which check_compressor() tries a compressor.
struct compressor_trial {
    std::size_t dimension = 0;  ///< of all vectors; 0: many lengths, some of which check(d) may refuse
    int keys = 4000;            ///< the number of keys over which averages are taken
    std::uint64_t seed = 1;
};

namespace detail {

template <class T, class C>
class compressor_check {
  public:
    compressor_check(C const& c, compressor_trial const& how, std::vector<std::string>& broken)
        : c_(c), how_(how), broken_(broken) {}

    void all() {
        using namespace compressor_laws;
        for_each(vectors<T>(), [this](std::vector<T> const& x, key from) {
            auto const other = noise<T>(x.size(), how_.seed + 77);
            bytes encoded;
            std::vector<T> numbers;
            return check_message<T, host>(c_, x, other, from, encoded, numbers);
        });
        for_each({noise<T>(33, 40)}, [this](std::vector<T> const& x, key from) { return changes(x, from); });
        if constexpr (DeclaresUserKind<message_of<C, T>>)
            for_each({noise<T>(33, 40), noise<T>(1, 41), {}},
                     [this](std::vector<T> const& x, key from) { return describes(x, from); });
        for_each(theory_vectors<T>(), [this](std::vector<T> const& x, key from) { return averages(x, from); });
        if (!is_tried_)
            broken_.push_back(concat({number(), "check(d) refuses every vector that was tried; name a dimension"}));
    }

  private:
    static std::string number() { return sizeof(T) == 4 ? "float: " : "double: "; }

    // Reports the first of the vectors that breaks a law.
    void for_each(std::vector<std::vector<T>> all, auto law) {
        if (how_.dimension != 0) {
            auto const most = all.size();  // a law that costs much tries few vectors
            all.clear();
            for (int spread : {3, 0, 12}) all.push_back(compressor_laws::noise<T>(how_.dimension, how_.seed, spread));
            all.emplace_back(how_.dimension, T(-1.5));
            all.emplace_back(how_.dimension, T(0)).back() = 3;
            if (all.size() > most) all.resize(most);
        }
        for (auto const& x : all) {
            if (!suits(x.size())) continue;
            is_tried_ = true;
            std::string violation;
            try {
                violation = law(x, key{how_.seed}.child(x.size()));
            } catch (std::exception const& e) {
                violation = std::string("it throws: ") + e.what();
            }
            if (violation.empty()) continue;
            std::string numbers;
            for (std::size_t i = 0; i < std::min<std::size_t>(x.size(), 4); ++i)
                numbers += (i == 0 ? "" : ", ") + compressor_laws::rounded(static_cast<double>(x[i]));
            broken_.push_back(
                concat({number(), violation, "; x = {", numbers, (x.size() > 4 ? ", ...}" : "}"), ", d = ", x.size()}));
            return;
        }
    }
    bool suits(std::size_t d) const {
        try {
            c_.check(d);
            return true;
        } catch (argument_error const&) {
            return false;
        }
    }
    message_of<C, T> made(std::vector<T> const& x, key from) const {
        host on;
        message_of<C, T> m;
        c_(on, std::span<T const>(x), from, m);
        return m;
    }
    std::string changes(std::vector<T> const& x, key from) const {
        auto const m = made(x, from);
        std::string violation;
        std::size_t taken = 0;
        auto const accepts = [&](std::span<std::byte const> encoded) {
            bool accepted = false;
            auto const why = compressor_laws::violation<T>(c_, x.size(), from, encoded, accepted);
            if (violation.empty() && !why.empty())
                violation = concat({"a damaged message is accepted, and then: ", why});
            return accepted;
        };
        auto const first =
            compressor_laws::changes_violation(compressor_laws::written(m), wire::account(m).unpadded(), accepts, taken);
        return first.empty() ? violation : first;
    }
    // A message of a user's kind in the self-describing form: whole, and with each bit flipped.
    std::string describes(std::vector<T> const& x, key from) const {
        auto const m = made(x, from);
        auto file = write_described(m, {.with_checksum = false});
        reading_limits const limits{.dimension = 1000, .memory = 1 << 22};
        std::vector<T> result(x.size());
        try {
            read_described(file, limits, user_messages<C>).add_to(std::span<T>(result));
        } catch (wire_error const& e) {
            return std::string("in the self-describing form, it is refused: ") + e.what();
        }
        if (result != compressor_laws::decoded<message_of<C, T>, T>(m))
            return "in the self-describing form, it is read as another message";
        for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
            auto const flip = std::byte(1u << (bit % 8));
            file[bit / 8] ^= flip;
            try {
                read_described(file, limits, user_messages<C>);
            } catch (wire_error const&) {
            } catch (std::exception const& e) {
                return std::string("in the self-describing form, a damaged one throws another type than wire_error: ") +
                       e.what();
            }
            file[bit / 8] ^= flip;
        }
        return "";
    }
    std::string averages(std::vector<T> const& x, key from) const {
        bool const unbiased = is_unbiased(c_), contractive = is_contractive(c_);
        if (!unbiased && !contractive) return "";
        host on;
        message_of<C, T> m;
        compressor_laws::moments found(x.size(), how_.keys);
        std::vector<T> result(x.size());
        for (int t = 0; t < how_.keys; ++t) {
            c_(on, std::span<T const>(x), from.child(static_cast<std::uint64_t>(t)), m);
            std::fill(result.begin(), result.end(), T(0));
            add_message(on, std::span<T>(result), T(1), m);
            found.add(x, result);
        }
        found.finish();
        std::string violation;
        if constexpr (Unbiased<C>)
            if (unbiased) {
                violation = compressor_laws::mean_violation(found, x);
                if (violation.empty()) violation = compressor_laws::omega_violation(found, x, c_.omega(x.size()));
            }
        if constexpr (Contractive<C>)
            if (contractive && violation.empty())
                violation = compressor_laws::delta_violation(found, x, c_.delta(x.size()));
        return violation;
    }

    C const& c_;
    compressor_trial how_;
    std::vector<std::string>& broken_;
    bool is_tried_ = false;
};

// What is wrong with the text of c, by which ranks compare their compressors, and with what its pipes hold.
template <class C>
std::string text_violation(C const& c) {
    if (to_string(c).empty()) return "to_string(c) is empty";
    if constexpr (Sparsifier<C>) {
        quantize const rest{5, 77};
        auto const piped = c.with(rest);
        if (!(piped.rest == rest)) return "the rest of c.with(rest) is another";
        if (auto const text = to_string(piped); text.find(to_string(rest)) == text.npos)
            return concat({"the text of c | ", to_string(rest), " does not have the rest: ", text});
    }
    return "";
}

}  // namespace detail

/// Tries the laws of all compressors on one of your own, for float and double as far as it takes them, and returns the
/// laws that it breaks, one sentence each: messages are pure functions with one encoding that is read back whole, and
/// add linearly; damaged ones are refused or harmless, also in the self-describing form where they have a user_kind
/// (wire/user_message.hpp); E C(x) = x and omega, or delta, hold on average; a sparsifier's text has its rest. An empty
/// list is no proof. It suits a unit test: it encodes and adds how.keys messages about each of a few vectors, and reads
/// damaged ones, some 4 MiB of them, or 128 long ones (compressor_laws::changes_violation).
template <class C>
std::vector<std::string> check_compressor(C const& c, compressor_trial how = {}) {
    static_assert(detail::require_compressor<C>());
    std::vector<std::string> broken;
    if constexpr (detail::SomeCompressor<C>) {
        if (auto const why = detail::text_violation(c); !why.empty()) broken.push_back(why);
        if (!(C(c) == c)) broken.push_back("a copy of c is not equal to it");
        if constexpr (Compressor<C, double>) detail::compressor_check<double, C>(c, how, broken).all();
        if constexpr (Compressor<C, float>) detail::compressor_check<float, C>(c, how, broken).all();
    }
    return broken;
}

}  // namespace laconic
