// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "laconic/backend/host.hpp"
#include "laconic/optim/step.hpp"

namespace laconic {

/// The numbers of `lion`. Its rate is a third to a tenth of AdamW's, and its weight decay as much larger.
struct lion_options {
    double rate = 1e-4, beta1 = 0.9, beta2 = 0.99, weight_decay = 0;

    static constexpr void description(auto&& describe) {
        describe("lion", "each coordinate by the sign of a mean of d", "Chen et al., NeurIPS 2023",
                 field("rate", &lion_options::rate).between(0, 1e300).written(),
                 field("beta1", &lion_options::beta1).between(0, 1).by_name(),
                 field("beta2", &lion_options::beta2).between(0, 1).by_name(),
                 field("weight_decay", &lion_options::weight_decay).between(0, 1e300).by_name());
    }
};

namespace detail {

/// A step of lion, for the numbers of a vector V from j on.
template <Scalar T>
struct lion_numbers {
    using number = T;
    std::span<T> x, d, mean;
    lion_options how;

    template <class V>
    constexpr void at(std::size_t j) const {
        // Rounded before it is added to: the same bits for every processor.
        auto const times = [](double a, V b) { return rounded_product(V::all(static_cast<T>(a)), b); };
        V const m = V::load(mean.data() + j), g = V::load(d.data() + j), here = V::load(x.data() + j);
        V const along = sign(times(how.beta1, m) + times(1 - how.beta1, g));
        (times(how.beta2, m) + times(1 - how.beta2, g)).store(mean.data() + j);
        (times(1 - simd::rounded_product(how.rate, how.weight_decay), here) - times(how.rate, along))
            .store(x.data() + j);
    }
    constexpr void operator()(std::size_t j) const { at<simd::single<T>>(j); }
};

}  // namespace detail

/// Lion (Chen et al., NeurIPS 2023), each coordinate by itself, with m = 0 at the start:
///     x <- (1 - rate weight_decay) x - rate sign(beta1 m + (1 - beta1) d),    m <- beta2 m + (1 - beta2) d,
/// where the sign is of the m before, and sign(0) = 0; of NaN it is NaN. Reads 3 vectors and writes 2.
template <Scalar T = double, class B = host>
class lion {
  public:
    explicit lion(double rate) : lion(lion_options{.rate = rate}) {}
    /// Throws argument_error unless beta1 and beta2 are in [0, 1), and the others are at least 0 and finite.
    explicit lion(lion_options how = {}) : how_(how) {
        detail::require_factor("lion", "beta1", how.beta1);
        detail::require_factor("lion", "beta2", how.beta2);
        detail::check_fields(how);
    }

    void operator()(B& on, std::span<T> x, std::span<T> d) {
        LACONIC_EXPECTS(d.size() == x.size());
        mean_.resize(x.size());
        at_each_index(on, x.size(), detail::lion_numbers<T>{x, d, mean_, how_});
    }

    double rate() const { return how_.rate; }
    /// m; empty before the first step.
    std::span<T const> mean() const { return mean_; }
    void state(auto& archive) { archive.vectors(mean_); }
    friend std::string to_string(lion const& s) { return to_string(s.how_); }

  private:
    lion_options how_;
    typename B::template array<T> mean_;
};

}  // namespace laconic
