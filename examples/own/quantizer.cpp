// SPDX-License-Identifier: Apache-2.0
// A quantizer of your own: how numbers are written. It makes a message of the library's, and can follow any sparsifier.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <laconic/check_compressor.hpp>
#include <laconic/laconic.hpp>
#include <vector>

// The nearest of the grid of `levels` steps between 0 and the largest magnitude. The largest is kept, so that delta is
// 1 / d.
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
        for (T const v : x) {
            if (!std::isfinite(v)) throw laconic::argument_error("nearest_level: a number is not finite");
            largest = std::max(largest, std::abs(v));
        }
        T const step = largest / static_cast<T>(levels);
        if (!x.empty()) m.steps[0] = step;
        for (std::size_t j = 0; j < x.size(); ++j)
            m.codes[j] = static_cast<std::int8_t>(step > 0 ? std::nearbyint(x[j] / step) : T(0));
    }
    double delta(std::size_t d) const { return 1 / static_cast<double>(std::max<std::size_t>(d, 1)); }
    bool operator==(nearest_level const&) const = default;
};

int main() {
    auto const broken = laconic::check_compressor(nearest_level{7});
    for (auto const& law : broken) std::printf("broken: %s\n", law.c_str());

    laconic::threads::run(2, [](auto& comm) {
        auto const both = laconic::top_k{2} | nearest_level{7};
        std::vector<float> gradient{1, 0, -7, 2, 0.5f, 3, 0, comm.rank() == 0 ? 0.f : 14.f};
        laconic::reducer reduce(laconic::error_feedback{both}, comm, gradient);
        reduce(gradient);
        if (comm.rank() > 0) return;
        std::printf("%s:", laconic::to_string(both).c_str());
        for (float const v : gradient) std::printf(" %g", static_cast<double>(v));
        std::printf("\n");
    });
    return !broken.empty();
}
