// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <laconic/check_compressor.hpp>
#include <laconic/laconic.hpp>
#include <string>
#include <vector>

// A sparsifier of your own: of each `block` consecutive numbers, the largest magnitude. `Rest` writes the numbers.
template <class Rest = laconic::identity>
struct largest_of_each {
    std::size_t block = 64;
    Rest rest{};

    static constexpr void description(auto&& describe) {  // its text: to_string, and what ranks compare
        describe("largest_of_each", "the largest magnitude of each block; contractive", "",
                 laconic::field("block", &largest_of_each::block).needed());
    }
    std::size_t kept(std::size_t d) const { return (d + block - 1) / block; }

    // fixed_count: both ends know how many numbers travel; listed: the message has their number, too.
    template <laconic::Scalar T, class B>
    using message = laconic::messages::sparse<Rest, laconic::messages::support_is::fixed_count, T, B>;

    void check(std::size_t d) const {
        if (block == 0) throw laconic::argument_error("largest_of_each: a block of no numbers");
        rest.check(kept(d));
    }
    template <class B, laconic::Scalar T>
    void blank(B& on, std::size_t d, laconic::key from, message<T, B>& m) const {
        begin_message(m, d, *this, from);
        m.support.resize(kept(d));
        m.expect_payload(on);
    }
    template <class B, laconic::Scalar T>
    void operator()(B& on, std::span<T const> x, laconic::key from, message<T, B>& m) const {
        begin_message(m, x.size(), *this, from);
        m.support.resize(kept(x.size()));
        for (std::size_t j = 0; j < m.support.size(); ++j) {  // the places, ascending
            auto const part = x.subspan(j * block, std::min(block, x.size() - j * block));
            auto const smaller = [](T a, T b) { return std::abs(a) < std::abs(b); };
            auto const at = std::max_element(part.begin(), part.end(), smaller) - part.begin();
            m.support[j] = static_cast<laconic::coordinate>(j * block + static_cast<std::size_t>(at));
        }
        make_payload(on, x, T(1), m);  // 1 times the numbers there, as the rest writes them
    }
    // The largest of a block has at least 1 / block of its energy.
    double delta(std::size_t d) const requires laconic::Contractive<Rest> {
        return rest.delta(kept(d)) / static_cast<double>(block);
    }
    template <class R>
    constexpr auto with(R const& r) const {
        return largest_of_each<R>{block, r};
    }
    bool operator==(largest_of_each const&) const = default;
};
largest_of_each(std::size_t)->largest_of_each<>;

// A quantizer of your own, which makes a message of the library's: the nearest of the grid of `levels` steps between 0
// and the largest magnitude. The largest is kept, so that delta is 1 / d.
struct nearest_level {
    int levels = 7;

    static constexpr void description(auto&& describe) {
        describe("nearest_level", "the nearest level; contractive", "",
                 laconic::field("levels", &nearest_level::levels).needed());
    }
    template <laconic::Scalar T, class B>
    using message = laconic::messages::quantized<T, B>;  // number j is codes[j] * steps[j / bucket]

    void check(std::size_t) const {
        if (levels < 1 || levels > 127) throw laconic::argument_error("nearest_level: levels outside 1 .. 127");
    }
    template <class B, laconic::Scalar T>
    void blank(B&, std::size_t d, laconic::key, message<T, B>& m) const {
        laconic::messages::check_dimension(d);
        m.levels = levels;
        m.bucket = std::max<std::size_t>(d, 1);
        m.steps.resize(d > 0 ? 1 : 0);
        m.resize(d);
    }
    template <class B, laconic::Scalar T>
    void operator()(B& on, std::span<T const> x, laconic::key from, message<T, B>& m) const {
        blank(on, x.size(), from, m);
        T largest = 0;
        for (T const v : x) largest = std::max(largest, std::abs(v));
        T const step = largest / static_cast<T>(levels);
        if (!x.empty()) m.steps[0] = step;
        for (std::size_t j = 0; j < x.size(); ++j)
            m.codes[j] = static_cast<std::int8_t>(step > 0 ? std::nearbyint(x[j] / step) : T(0));
    }
    double delta(std::size_t d) const { return 1 / static_cast<double>(std::max<std::size_t>(d, 1)); }
    bool operator==(nearest_level const&) const = default;
};

int main() {
    bool broken = false;
    auto const report = [&](std::vector<std::string> const& laws) {
        for (auto const& law : laws) std::printf("broken: %s\n", law.c_str()), broken = true;
    };
    report(laconic::check_compressor(largest_of_each{4}));
    report(laconic::check_compressor(nearest_level{7}));

    auto const both = largest_of_each{4} | nearest_level{7};
    laconic::threads::run(2, [&](auto& comm) {
        std::vector<float> gradient{1, 0, -7, 2, 0.5f, 3, 0, comm.rank() == 0 ? 0.f : 14.f};
        laconic::reducer reduce(laconic::error_feedback{both}, comm, gradient);
        reduce(gradient);
        if (comm.rank() > 0) return;
        std::printf("%s:", laconic::to_string(both).c_str());
        for (float const v : gradient) std::printf(" %g", static_cast<double>(v));
        std::printf("\n");
    });
    return broken;
}
