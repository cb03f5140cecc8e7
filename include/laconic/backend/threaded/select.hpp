// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "laconic/backend/threaded/parts.hpp"

/// Selections: the kernels are described at their forms for the host.
namespace laconic::detail {

// For with_kth_largest: takes the k largest numbers' coordinates, and the numbers.
template <class A, Scalar T>
auto take_both(std::size_t k, std::vector<coordinate>& at, std::span<T> numbers) {
    return [k, &at, numbers](std::span<T const> values, auto name, cutoff<T> t) {
        at.resize(k);
        take_from<A>(values, t, own_places{}, std::span(at));
        for (std::size_t j = 0; j < k; ++j) {
            numbers[j] = values[at[j]];
            at[j] = name(at[j]);
        }
    };
}

}  // namespace laconic::detail

namespace laconic::kernels {

/// select_largest() and compensate_and_select_largest() that also write the k numbers, for 1 <= k.
template <class A, Scalar T>
void select_largest(basic_host<A>& on, std::span<T const> x, std::size_t k, std::vector<coordinate>& at,
                    std::span<T> numbers) {
    LACONIC_EXPECTS(1 <= k && k <= x.size() && k == numbers.size());
    detail::with_kth_largest(on, x, k, detail::take_both<A>(k, at, numbers));
}
template <class A, Scalar T>
bool compensate_and_select_largest(basic_host<A>& on, T a, std::span<T const> g, std::span<T const> h, T b,
                                   std::span<T const> e, std::span<T> out, std::size_t k, std::vector<coordinate>& at,
                                   std::span<T> numbers) {
    LACONIC_EXPECTS(out.size() == g.size() && 1 <= k && k <= g.size() && k == numbers.size());
    return detail::with_kth_largest_of_sum(on, compensation<T>{a, g, h, b, e, out}, k,
                                           detail::take_both<A>(k, at, numbers));
}

}  // namespace laconic::kernels

namespace laconic::detail {

// The k >= 1 largest of x from those of its parts. In the order of magnitudes, of equal ones the lower coordinate
// first, what a part has beyond its share comes behind all in the share: it is none of the k where one of these is
// none.
template <class B, Scalar T>
class parts_of_selection {
  public:
    parts_of_selection(kernels::threaded<B>& on, std::span<T const> x, std::size_t k)
        : on_(on), x_(x), k_(k), length_(length_of_parts(on, x.size(), least_unit)) {
        std::size_t const parts = pieces_in(x.size(), length_);
        auto const room = on.between().template scratch<std::size_t>(scratch_for::parts, 3 * parts + 2);
        shares_ = room.first(parts);
        begins_ = room.subspan(parts, parts + 1);
        bounds_ = room.last(parts + 1);
        // Of k that are drawn at random, a part has fewer, by eight standard deviations.
        double const fraction = static_cast<double>(length_) / static_cast<double>(x.size());
        double const share = static_cast<double>(k) * fraction + 4 * std::sqrt(static_cast<double>(k)) + 64;
        for (std::size_t t = 0; t < parts; ++t) shares_[t] = std::min(most_of(t), static_cast<std::size_t>(share));
        place(scratch_for::numbers);
    }

    // Calls select(own, part, k, list, numbers) for each part, which writes the k largest to list and numbers; returns
    // whether all return true.
    template <class Select>
    bool select(Select const& select) {
        return all_parts(on_, x_.size(), least_unit, [&](B& own, vector_part p) {
            auto const numbers = numbers_.subspan(begins_[p.number], shares_[p.number]);
            return select(own, p, shares_[p.number], on_.list(p.number), numbers);
        });
    }
    // Writes the k largest of these. A part that may have more of them is looked through once more.
    void join(std::vector<coordinate>& out) {
        choose(out);
        if (!suffice()) {
            std::span<T const> const before(numbers_);
            for (std::size_t t = 0; t < shares_.size(); ++t) {
                bounds_[t] = bounds_[t + 1] - bounds_[t] < shares_[t] ? begins_[t] : before.size();
                if (bounds_[t] == before.size()) shares_[t] = most_of(t);
            }
            place(scratch_for::energies);
            select([&](B& own, vector_part p, std::size_t k, std::vector<coordinate>& at, std::span<T> numbers) {
                if (auto const old = before.subspan(bounds_[p.number]); !old.empty())
                    std::copy_n(old.begin(), k, numbers.begin());
                else
                    select_largest(own, p.of(x_), k, at, numbers);
                return true;
            });
            choose(out);
        }
        in_parts(on_, x_.size(), least_unit, [&](B&, vector_part p) {
            auto const& at = on_.list(p.number);
            for (std::size_t j = bounds_[p.number]; j < bounds_[p.number + 1]; ++j)
                out[j] = static_cast<coordinate>(p.first + at[out[j] - begins_[p.number]]);
        });
    }

  private:
    std::size_t most_of(std::size_t part) const { return std::min({k_, length_, x_.size() - part * length_}); }
    void place(scratch_for use) {
        begins_[0] = 0;
        for (std::size_t t = 0; t < shares_.size(); ++t) begins_[t + 1] = begins_[t] + shares_[t];
        numbers_ = on_.between().template scratch<T>(use, begins_[shares_.size()]);
    }
    // The k largest of all shares, by their places, and where those of each part begin.
    void choose(std::vector<coordinate>& places) {
        select_largest(static_cast<B&>(on_), std::span<T const>(numbers_), k_, places);
        for (std::size_t t = 0; t < begins_.size(); ++t) {
            auto const at = std::lower_bound(places.begin(), places.end(), begins_[t]);
            bounds_[t] = static_cast<std::size_t>(at - places.begin());
        }
    }
    bool suffice() const {
        for (std::size_t t = 0; t < shares_.size(); ++t)
            if (bounds_[t + 1] - bounds_[t] == shares_[t] && shares_[t] < most_of(t)) return false;
        return true;
    }

    kernels::threaded<B>& on_;
    std::span<T const> x_;
    std::size_t k_, length_;
    std::span<std::size_t> shares_, begins_, bounds_;  // of each part
    std::span<T> numbers_;
};

// What select(own, part, list) selects of all parts, of whole units.
template <class B, class Select>
void select_and_join(kernels::threaded<B>& on, std::size_t d, std::vector<coordinate>& out, Select const& select,
                     std::size_t unit = least_unit) {
    std::size_t const length = length_of_parts(on, d, unit);
    if (length >= d) return select(static_cast<B&>(on), vector_part{0, 0, d}, out);
    in_parts(on, d, unit, [&](B& own, vector_part p) { select(own, p, on.list(p.number)); });
    std::size_t count = 0;
    for (std::size_t t = 0; t * length < d; ++t) count += on.list(t).size();
    out.resize(count);
    auto to = out.begin();
    for (std::size_t t = 0; t * length < d; ++t)
        for (coordinate const i : on.list(t)) *to++ = static_cast<coordinate>(t * length + i);
}

}  // namespace laconic::detail

namespace laconic::kernels {

template <class B, Scalar T>
void select_largest(threaded<B>& on, std::span<T const> x, std::size_t k, std::vector<coordinate>& out) {
    if (k == 0 || !on.splits(x.size())) return select_largest(static_cast<B&>(on), x, k, out);
    detail::parts_of_selection<B, T> parts(on, x, k);
    parts.select([&](B& own, auto p, std::size_t share, std::vector<coordinate>& at, std::span<T> numbers) {
        select_largest(own, p.of(x), share, at, numbers);
        return true;
    });
    parts.join(out);
}
template <class B, Scalar T>
void select_largest_of_each(threaded<B>& on, std::span<T const> x, std::size_t chunk, std::size_t k,
                            std::vector<coordinate>& out) {
    auto const of_part = [&](B& own, auto p, auto& at) { select_largest_of_each(own, p.of(x), chunk, k, at); };
    detail::select_and_join(on, x.size(), out, of_part, chunk);
}
template <class B, Scalar T>
bool compensate_and_select_largest(threaded<B>& on, T a, std::span<T const> g, std::span<T const> h, T b,
                                   std::span<T const> e, std::span<T> out, std::size_t k, std::vector<coordinate>& at) {
    if (k == 0 || !on.splits(out.size()))
        return compensate_and_select_largest(static_cast<B&>(on), a, g, h, b, e, out, k, at);
    detail::parts_of_selection<B, T> parts(on, std::span<T const>(out), k);
    auto const select = [&](B& own, auto p, std::size_t share, std::vector<coordinate>& list, std::span<T> numbers) {
        return compensate_and_select_largest(own, a, p.of(g), p.of(h), b, p.of(e), p.of(out), share, list, numbers);
    };
    return parts.select(select) && (parts.join(at), true);
}
template <class B, Scalar T>
void select_above(threaded<B>& on, std::span<T const> x, T bound, std::vector<coordinate>& out) {
    detail::select_and_join(on, x.size(), out,
                            [&](B& own, auto p, auto& at) { select_above(own, p.of(x), bound, at); });
}
template <class B, Scalar T>
void select_above(threaded<B>& on, std::span<T const> x, std::span<T const> bounds, std::vector<coordinate>& out) {
    detail::select_and_join(on, x.size(), out,
                            [&](B& own, auto p, auto& at) { select_above(own, p.of(x), p.of(bounds), at); });
}

}  // namespace laconic::kernels
