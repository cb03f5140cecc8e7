// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "kernel.hpp"

namespace kernel_bench {

namespace {

using namespace laconic;

// Floyd's and Vitter's methods in the way of Sanders et al., "Efficient parallel random sampling" (2018): the share of
// each half by a binomial number, until few are left, and these by a table of the numbers that were drawn. Not sorted
// within a leaf.
class method_r {
  public:
    void operator()(std::size_t d, std::size_t k, std::vector<coordinate>& out) {
        out.clear();
        split(0, d, k, out);
    }

  private:
    static constexpr std::size_t leaf = 1024;

    void split(std::size_t first, std::size_t d, std::size_t k, std::vector<coordinate>& out) {
        if (k <= leaf) return draw(first, d, k, out);
        // A normal number in place of the hypergeometric one, which takes longer.
        double const p = static_cast<double>(k) / static_cast<double>(d);
        double const spread = std::sqrt(static_cast<double>(d) / 4 * p * (1 - p));
        double const guess = std::round(static_cast<double>(k) / 2 + spread * normal_(random_));
        auto const low = static_cast<std::size_t>(std::clamp(guess, 0.0, static_cast<double>(k)));
        split(first, d / 2, low, out);
        split(first + d / 2, d - d / 2, k - low, out);
    }
    void draw(std::size_t first, std::size_t d, std::size_t k, std::vector<coordinate>& out) {
        std::fill(taken_.begin(), taken_.end(), 0u);
        for (std::size_t n = 0; n < k;) {
            auto const i = static_cast<coordinate>((random_() >> 32) * d >> 32);
            auto slot = std::size_t{i} * (2 * leaf) / d;
            while (taken_[slot] != 0 && taken_[slot] != i + 1) slot = (slot + 1) % taken_.size();
            if (taken_[slot] != 0) continue;
            taken_[slot] = i + 1;
            out.push_back(static_cast<coordinate>(first + i));
            ++n;
        }
    }

    std::mt19937_64 random_{1};
    std::normal_distribution<double> normal_;
    std::vector<coordinate> taken_ = std::vector<coordinate>(4 * leaf);
};

void add_case(std::size_t d, std::size_t k, bool peers) {
    // What is chosen is gathered, too: 4 k bytes are read at least.
    scenario const mine{.kernel = "rand_k", .d = d, .k = k, .bytes = 4 * k, .items = k};
    add<float>(mine, [d, k](std::span<float const> x) {
        return [x, d, k, n = std::uint64_t{0}, on = backend(), at = std::vector<coordinate>(),
                values = std::vector<float>()]() mutable {
            sample(on, key{1}.child(n++), d, k, at);
            gather(on, x, std::span<coordinate const>(at), 1, 1.0f, values);
        };
    });
    if (!peers) return;
    auto const peer = [&](char const* name) {
        auto s = mine;
        s.kernel += name;
        return s;
    };
    add<float>(peer(".method_r"), [d, k](std::span<float const> x) {
        return
            [x, d, k, choose = method_r(), at = std::vector<coordinate>(), values = std::vector<float>(k)]() mutable {
                choose(d, k, at);
                std::transform(at.begin(), at.end(), values.begin(), [x](coordinate i) { return x[i]; });
            };
    });
    add<float>(peer(".std_sample"), [d, k](std::span<float const> x) {
        std::vector<coordinate> all(d);
        std::iota(all.begin(), all.end(), coordinate{0});
        return [x, k, all, random = std::mt19937_64(1), at = std::vector<coordinate>(k),
                values = std::vector<float>(k)]() mutable {
            std::sample(all.begin(), all.end(), at.begin(), static_cast<std::ptrdiff_t>(k), random);
            std::transform(at.begin(), at.end(), values.begin(), [x](coordinate i) { return x[i]; });
        };
    });
}

}  // namespace

void add_rand_k() {
    for (std::size_t const parts : {1000u, 100u, 10u}) add_case(in_memory, in_memory / parts, true);
    add_case(in_l3, in_l3 / 100, false);
    add_case(far_in_memory, far_in_memory / 100, false);
}

}  // namespace kernel_bench
