// SPDX-License-Identifier: Apache-2.0
// No pipeline allocates after its first message, and a message holds the multiple of its vector that docs state.
#include <cstdlib>
#include <new>

#include "support/allocations.hpp"
#include "support/everything.hpp"
#include "support/laws/definitions.hpp"
#include "support/laws/messages.hpp"
#include "support/laws/pipelines.hpp"

namespace {
thread_local std::size_t so_far = 0;
thread_local std::ptrdiff_t held = 0;
// In front of what is allocated stands its size.
constexpr std::size_t in_front = __STDCPP_DEFAULT_NEW_ALIGNMENT__;
}  // namespace
std::size_t allocations() { return so_far; }
std::ptrdiff_t bytes_held() { return held; }
// Not inlined: g++ would warn of malloc with a delete that does not match.
[[gnu::noinline]] void* operator new(std::size_t n) {
    ++so_far;
    auto* const p = n <= PTRDIFF_MAX - in_front ? static_cast<std::byte*>(std::malloc(n + in_front)) : nullptr;
    if (!p) throw std::bad_alloc();
    std::memcpy(p, &n, sizeof n);
    held += static_cast<std::ptrdiff_t>(n);
    return p + in_front;
}
// What std::stable_sort calls, and frees as the others.
[[gnu::noinline]] void* operator new(std::size_t n, std::nothrow_t const&) noexcept try {
    return operator new(n);
} catch (std::bad_alloc const&) {
    return nullptr;
}
[[gnu::noinline]] void operator delete(void* p) noexcept {
    if (!p) return;
    auto* const all = static_cast<std::byte*>(p) - in_front;
    std::size_t n = 0;
    std::memcpy(&n, all, sizeof n);
    held -= static_cast<std::ptrdiff_t>(n);
    std::free(all);
}
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { operator delete(p); }

// The vectors differ in how much is worth sending: later messages may be longer than the first, which may be about
// zeros alone. One thing may grow later: the scratch memory of a piece that works on the numbers another one selected,
// where those are more than ever before.
template <class T, class B>
void allocates_once(bool zeros_first) {
    std::vector<std::vector<T>> vectors;
    for (std::uint64_t n = 0; n < 12; ++n) {
        vectors.push_back(laws::noise<T>(300, n, static_cast<int>(n % 4)));
        for (std::size_t i = n * 20; i < 250 && n % 3 != 1; ++i) vectors.back()[i] = 0;
    }
    if (zeros_first) vectors[0].assign(300, T(0));
    auto texts = laws::pipelines();
    texts.push_back("parts(100, threshold(0.5) | natural, 120, low_rank(rows=10, rank=2), 80, top_k(0.1))");
    for (auto const& text : texts) {
        CAPTURE(text);
        auto const c = parse_compressor<T, B>(text);
        B on;
        any_message<T, B> mine, theirs;
        wire::bit_writer sink;
        sink.reserve(300 * (sizeof(T) + 1) + 64);
        std::vector<T> out(300);
        for (std::uint64_t n = 0; n < vectors.size(); ++n) {
            auto const before = allocations();
            c(on, std::span<T const>(vectors[n]), key{n}, mine);
            sink.clear();
            write(sink, mine);
            wire::bit_reader source(sink.finish());
            c.blank(on, 300, key{n}, theirs);
            read(on, source, theirs, c);
            add_message(on, std::span<T>(out), T(1), theirs);
            bool const after_a_count = text.find("threshold(0.25) | ") == 0 || text.find("zero_blocks(4) | top_k") == 0;
            if (n > 0 && !after_a_count) CHECK(allocations() == before);
        }
    }
}
TEST_CASE_TEMPLATE("no pipeline allocates after its first message, at either end, on either backend", T, float,
                   double) {
    allocates_once<T, host>(false);
    allocates_once<T, host>(true);
    allocates_once<T, reference>(false);
}

// As docs/compressors.md has it, in vectors of d numbers: of what is sent with its scratch memory, and of what is
// received.
TEST_CASE("what a message holds is a multiple of the vector, or of what is sent") {
    struct row {
        char const* text;
        double sent, received;
    };
    constexpr std::size_t d = 20000;
    constexpr double slack = 4000;  // bytes: objects, windows, tables of a few words
    std::vector<double> x(d);
    for (std::size_t i = 0; i < d; ++i) x[i] = key{1}.uniform(i) - .5;
    for (row const& r :
         {row{"identity", 1, 1}, row{"top_k(0.01)", 1.03, 0.02}, row{"top_k(0.5)", 1.76, 0.75},
          row{"about_top_k(0.01)", 1.53, 0.52}, row{"rand_k(0.01)", 0.03, 0.02}, row{"rand_k(0.5)", 0.77, 0.75},
          row{"threshold(0.49)", 1.5, 1.5}, row{"bernoulli(0.01)", 1.5, 1.5}, row{"quantize(4)", 0.125, 0.125},
          row{"natural", 0.25, 0.25}, row{"scaled_sign", 0.02, 0.02}, row{"fp16", 0.25, 0.25},
          row{"two_means", 0.02, 0.02}, row{"bin_means", 0.125, 0.125}, row{"top_k(0.01) | natural", 1.03, 0.02},
          row{"top_k(0.01) | quantize(4)", 1.03, 0.02}, row{"zero_blocks(16)", 1.04, 1.04},
          row{"rand_block(0.01)", 0.02, 0.02}}) {
        INFO(r.text);
        auto const c = parse_compressor<double, host>(r.text);
        host on;
        any_message<double, host> mine, theirs;
        auto const before = bytes_held();
        for (std::uint64_t n = 0; n < 3; ++n) c(on, std::span<double const>(x), key{n}, mine);
        auto const sent = bytes_held() - before;
        wire::bit_writer sink;
        write(sink, mine);
        wire::bit_reader source(sink.finish());
        auto const there = bytes_held();
        c.blank(on, d, key{2}, theirs);
        read(on, source, theirs, c);
        auto const received = bytes_held() - there;
        CHECK(double(sent) <= r.sent * 8 * d + slack);
        CHECK(double(received) <= r.received * 8 * d + slack);
    }
}
