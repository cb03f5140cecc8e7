// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thrust/functional.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/tabulate.h>
#include <thrust/transform_reduce.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "laconic/backend/device.hpp"
#include "task.hpp"

/// The perceptron of laconic/objective/perceptron.hpp where data, weights and gradients live on the device: x holds the
/// same numbers in the same order. An objective of your own is such a class: nothing in it is the library's.
namespace on_device {

/// One element of a matrix product a b, plus a number for its column, and no less than `least`. Matrices are given by
/// their steps from row to row and from column to column, so that a transposed one is the same numbers with other
/// steps.
struct product {
    struct matrix {
        float const* numbers;
        std::size_t row_step, column_step;
        LACONIC_HOST_DEVICE float at(std::size_t i, std::size_t j) const {
            return numbers[i * row_step + j * column_step];
        }
    };
    matrix a, b;
    std::size_t inner, columns;
    float const* bias = nullptr;
    float least = -HUGE_VALF;

    LACONIC_HOST_DEVICE float operator()(std::size_t e) const {
        std::size_t const i = e / columns, j = e % columns;
        float sum = bias == nullptr ? 0 : bias[j];
        for (std::size_t l = 0; l < inner; ++l) sum += a.at(i, l) * b.at(l, j);
        return sum < least ? least : sum;
    }
};

/// The same where a unit let its input pass, else 0: the way back through relu.
struct product_where_positive {
    product p;
    float const* units;
    LACONIC_HOST_DEVICE float operator()(std::size_t e) const { return units[e] > 0 ? p(e) : 0; }
};

/// Element e of those rows that a batch takes.
struct chosen_rows {
    float const* features;
    std::uint32_t const* rows;
    std::size_t columns;
    LACONIC_HOST_DEVICE float operator()(std::size_t e) const {
        return features[rows[e / columns] * columns + e % columns];
    }
};

/// Of row i the scores as probabilities (softmax), and what cross-entropy makes of them.
struct of_scores {
    float const* scores;
    std::uint32_t const *places, *rows;  // the right class of each row of the data; which rows the batch takes
    std::size_t classes, batch;

    LACONIC_HOST_DEVICE float log_of_sum(float const* s) const {
        float largest = s[0], sum = 0;
        for (std::size_t c = 1; c < classes; ++c) largest = s[c] > largest ? s[c] : largest;
        for (std::size_t c = 0; c < classes; ++c) sum += std::exp(s[c] - largest);
        return largest + std::log(sum);
    }
};
/// The slope of the mean loss in a score.
struct slope : of_scores {
    LACONIC_HOST_DEVICE float operator()(std::size_t e) const {
        std::size_t const i = e / classes, c = e % classes;
        float const* const s = scores + i * classes;
        float const right = places[rows[i]] == c ? 1.0f : 0.0f;
        return (std::exp(s[c] - log_of_sum(s)) - right) / static_cast<float>(batch);
    }
};
struct loss : of_scores {
    LACONIC_HOST_DEVICE double operator()(std::size_t i) const {
        float const* const s = scores + i * classes;
        return static_cast<double>(log_of_sum(s) - s[places[rows[i]]]);
    }
};

/// A FiniteSum of float vectors on the device, of one rank's rows. Products are plain loops, one thread for a number; a
/// library such as cuBLAS would be quicker. For one thread at a time, unlike an objective of the host.
class perceptron {
  public:
    template <class E>
    using array = laconic::device::array<E>;
    template <class E>
    using in = std::span<E const>;

    explicit perceptron(task const& t)
        : features_(t.features), hidden_(t.hidden), classes_(t.classes), samples_(t.places.size()) {
        place(data_, t.data);
        place(places_, t.places);
    }
    std::size_t dimension() const { return hidden_ * (features_ + 1) + classes_ * (hidden_ + 1); }
    std::size_t samples() const { return samples_; }

    double value(in<float> x) const {
        std::vector<std::uint32_t> rows(samples_);
        for (std::size_t i = 0; i < samples_; ++i) rows[i] = static_cast<std::uint32_t>(i);
        see(rows, x);
        thrust::counting_iterator<std::size_t> const first(0);
        auto const end = first + static_cast<std::ptrdiff_t>(samples_);
        double const sum = on_.call_thrust([&](auto const& how) {
            return thrust::transform_reduce(how, first, end, loss{scores()}, 0.0, thrust::plus<double>());
        });
        return sum / static_cast<double>(samples_);
    }
    void gradient(in<float> x, std::span<float> g) const {
        std::vector<std::uint32_t> rows(samples_);
        for (std::size_t i = 0; i < samples_; ++i) rows[i] = static_cast<std::uint32_t>(i);
        batch_gradient(rows, x, g);
    }
    void batch_gradient(in<std::uint32_t> rows, in<float> x, std::span<float> g) const {
        see(rows, x);
        std::size_t const n = rows.size();
        auto const* const outer = x.data() + hidden_ * (features_ + 1);
        auto* const first = g.data();
        auto* const second = g.data() + hidden_ * (features_ + 1);

        make(slopes_, n * classes_, slope{scores()});
        product::matrix const s{slopes_.data(), classes_, 1}, s_turned{slopes_.data(), 1, classes_};
        product const back{s, {outer, hidden_, 1}, classes_, hidden_};
        make(back_, n * hidden_, product_where_positive{back, units_.data()});
        product::matrix const b_turned{back_.data(), 1, hidden_};

        write(first, hidden_ * features_, product{b_turned, {batch_.data(), features_, 1}, n, features_});
        write(first + hidden_ * features_, hidden_, product{b_turned, ones(n), n, 1});
        write(second, classes_ * hidden_, product{s_turned, {units_.data(), hidden_, 1}, n, hidden_});
        write(second + classes_ * hidden_, classes_, product{s_turned, ones(n), n, 1});
    }

  private:
    template <class E>
    void place(array<E>& there, std::span<E const> here) const {
        there.resize(here.size());
        copy_from_host(on_, here, std::span<E>(there));
    }
    template <class F>
    void write(float* to, std::size_t n, F f) const {
        on_.call_thrust([&](auto const& how) { thrust::tabulate(how, to, to + n, f); });
    }
    template <class F>
    void make(array<float>& to, std::size_t n, F f) const {
        if (to.size() < n) to.resize(n);
        write(to.data(), n, f);
    }
    product::matrix ones(std::size_t n) const {
        if (ones_.size() < n) ones_.assign(n, 1.0f);
        return {ones_.data(), 1, 0};
    }
    // What the network makes of the rows: hidden units and scores.
    void see(in<std::uint32_t> rows, in<float> x) const {
        std::size_t const n = rows.size();
        place(rows_, rows);
        auto const* const outer = x.data() + hidden_ * (features_ + 1);
        make(batch_, n * features_, chosen_rows{data_.data(), rows_.data(), features_});
        make(units_, n * hidden_,
             product{{batch_.data(), features_, 1},
                     {x.data(), 1, features_},
                     features_,
                     hidden_,
                     x.data() + hidden_ * features_,
                     0});
        make(scores_, n * classes_,
             product{{units_.data(), hidden_, 1}, {outer, 1, hidden_}, hidden_, classes_, outer + classes_ * hidden_});
        seen_ = n;
    }
    of_scores scores() const { return {scores_.data(), places_.data(), rows_.data(), classes_, seen_}; }

    std::size_t features_, hidden_, classes_, samples_;
    array<float> data_;
    array<std::uint32_t> places_;
    mutable laconic::device on_;
    mutable array<float> batch_, units_, scores_, slopes_, back_, ones_;
    mutable array<std::uint32_t> rows_;
    mutable std::size_t seen_ = 0;
};

}  // namespace on_device
