// SPDX-License-Identifier: Apache-2.0
// A sparsifier of your own: which numbers travel. Any quantizer can follow it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <laconic/check_compressor.hpp>
#include <laconic/laconic.hpp>
#include <vector>

// Of each `block` consecutive numbers, the largest magnitude. `Rest` writes the numbers.
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
        m.expect_payload(on, *this);
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
        make_payload(on, x, T(1), *this, m);  // 1 times the numbers there, as the rest writes them
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

int main() {
    auto const broken = laconic::check_compressor(largest_of_each{4});
    for (auto const& law : broken) std::printf("broken: %s\n", law.c_str());

    laconic::threads::run(2, [](auto& comm) {
        auto const both = largest_of_each{4} | laconic::scaled_sign{};
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
