// SPDX-License-Identifier: Apache-2.0
// A message of your own: what travels between ranks, and what a file has beside it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <laconic/check_compressor.hpp>
#include <laconic/laconic.hpp>
#include <laconic/wire/described.hpp>

// Number j is codes[j] times a step, which is in the file, too.
template <laconic::Scalar T, class B>
struct multiples {
    using value_type = T;
    static constexpr unsigned user_kind = 130;  // 128 .. 255, your choice
    T step = 1;
    std::vector<signed char> codes;

    std::size_t dimension() const { return codes.size(); }
    bool operator==(multiples const&) const = default;
    friend void add_message(B&, std::span<T> out, T w, multiples const& m) {
        for (std::size_t j = 0; j < out.size(); ++j) out[j] += w * (static_cast<T>(m.codes[j]) * m.step);
    }
    // What ranks send each other, who know the step and how many numbers there are.
    friend void write(auto& sink, multiples const& m) {
        for (int code : m.codes) sink.put(static_cast<std::uint64_t>(code + 127), 8);
    }
    friend void read(B&, auto& source, multiples& m) {
        for (auto& code : m.codes) {
            auto const word = source.take(8);
            if (word > 254) source.refuse("a code above 127");
            code = static_cast<signed char>(static_cast<int>(word) - 127);
        }
    }
    // What a file says beside that, and what its reader must know before it makes room for n numbers.
    friend void write_parameters(auto& sink, multiples const& m) { laconic::wire::put_number(sink, m.step); }
    friend void read_parameters(auto& source, multiples& m) {
        m.step = laconic::wire::take_magnitude<T>(source, "step");
        if (!std::isfinite(127 * m.step)) source.refuse("a step whose multiples are not finite");
    }
    laconic::reading_bounds per_number() const { return {.least_bits = 8, .most_bytes = 1}; }
    void resize(std::size_t n) { codes.resize(n); }
};

// The compressor that makes it: the nearest multiple of the step, up to 127 steps.
struct nearest_multiple {
    double step = 0.01;

    template <laconic::Scalar T, class B>
    using message = multiples<T, B>;

    void check(std::size_t) const {
        if (!(step > 0)) throw laconic::argument_error("nearest_multiple: the step is not above 0");
    }
    template <class B, laconic::Scalar T>
    void blank(B&, std::size_t d, laconic::key, multiples<T, B>& m) const {
        m.step = static_cast<T>(step);
        m.codes.resize(d);
    }
    template <class B, laconic::Scalar T>
    void operator()(B& on, std::span<T const> x, laconic::key from, multiples<T, B>& m) const {
        blank(on, x.size(), from, m);
        for (std::size_t j = 0; j < x.size(); ++j) {
            if (!std::isfinite(x[j])) throw laconic::argument_error("nearest_multiple: a number is not finite");
            m.codes[j] = static_cast<signed char>(std::clamp(std::nearbyint(x[j] / m.step), T(-127), T(127)));
        }
    }
    bool operator==(nearest_multiple const&) const = default;
    friend std::string to_string(nearest_multiple const& c) {
        return "nearest_multiple(" + std::to_string(c.step) + ")";
    }
};

int main() {
    std::vector<float> const x{0.5f, -0.021f, 3, 0, -0.257f};
    auto const message = compress(laconic::top_k{3} | nearest_multiple{0.01}, x, laconic::key{1});
    std::vector<std::byte> const file = laconic::write_described(message);

    std::vector<float> y(x.size());
    auto const read = laconic::read_described(file, {.dimension = 1000}, laconic::user_messages<nearest_multiple>);
    read.add_to(std::span(y));
    for (float v : y) std::printf("%.2f ", v);
    std::printf("in %zu bytes\n", file.size());

    // A reader that was not given the type refuses the file, and says which kind it is.
    try {
        laconic::read_described(file);
    } catch (laconic::wire_error const& e) {
        std::printf("%s\n", e.why.c_str());
    }
    for (auto const& law : laconic::check_compressor(nearest_multiple{})) std::printf("broken: %s\n", law.c_str());
}
