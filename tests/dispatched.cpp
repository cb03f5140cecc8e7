// SPDX-License-Identifier: Apache-2.0
//
// With each set of kernels that this processor has, every kernel is its definition and messages are added as by the
// host, to the bit. A program of tests/builds, for plain flags: the other tests are compiled for one processor.
#include "laconic/dispatched.hpp"

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "laconic/compress/compressors.hpp"
#include "laconic/compressor_laws.hpp"
#include "laconic/core/error.hpp"
#include "support/laws/kernels.hpp"

using laconic::dispatched;
using namespace laconic::kernels;

static_assert(Backend<dispatched, float> && Backend<dispatched, double>);

// With the kernels that are set for all of its objects.
struct chosen : dispatched {
    static inline std::string_view kernels = "baseline";
    chosen() : dispatched(kernels) {}
};
// The same on three threads, for long and short vectors.
struct on_threads : dispatched {
    on_threads() : dispatched(chosen::kernels, 3) { split_from(1000); }
};

void with_each_set(auto laws) {
    for (auto const kernels : dispatched::sets()) {
        CAPTURE(kernels);
        chosen::kernels = kernels;
        laws();
    }
}

TEST_CASE_TEMPLATE("updates are the definition's", T, float, double) {
    with_each_set([] { kernel_laws::updates<chosen, T>(); });
}
TEST_CASE_TEMPLATE("reductions are the definition's", T, float, double) {
    with_each_set([] { kernel_laws::reductions<chosen, T>(); });
}
TEST_CASE_TEMPLATE("selections are the definition's", T, float, double) {
    with_each_set([] { kernel_laws::selections<chosen, T>(); });
}
TEST_CASE_TEMPLATE("nearly equal blocks are the definition's", T, float, double) {
    with_each_set([] { kernel_laws::nearly_equal_blocks<chosen, T>(); });
}
TEST_CASE_TEMPLATE("short codes are the definition's", T, float, double) {
    with_each_set([] { kernel_laws::short_codes<chosen, T>(); });
}
TEST_CASE_TEMPLATE("buckets are the definition's", T, float, double) {
    with_each_set([] { kernel_laws::buckets<chosen, T>(); });
}
TEST_CASE_TEMPLATE("matrices are the definition's", T, float, double) {
    with_each_set([] { kernel_laws::matrices<chosen, T>(); });
}
TEST_CASE_TEMPLATE("so are those on several threads", T, float, double) {
    with_each_set([] {
        kernel_laws::updates<on_threads, T>();
        kernel_laws::reductions<on_threads, T>();
        kernel_laws::selections<on_threads, T>();
        kernel_laws::short_codes<on_threads, T>();
        kernel_laws::buckets<on_threads, T>();
    });
}
TEST_CASE("words are the definition's") {
    with_each_set([] { kernel_laws::words<chosen>(); });
}
TEST_CASE("samples are the definition's") {
    with_each_set([] { kernel_laws::samples<chosen>(laconic::detail::worth_a_bitmap); });
}

// Long enough for several buckets, words of signs and packs, and odd.
template <class T>
void messages_are_added_as_by_the_host(auto const& c) {
    CAPTURE(to_string(c));
    laconic::host host;
    for (std::size_t const d : {1u, 63u, 64u, 200u, 1003u}) {
        auto const x = laconic::compressor_laws::noise<T>(d, 5, 1);
        auto const m = laconic::compress(c, x, laconic::key{3}, host);
        std::vector<T> wanted(d, T(0.3));
        add_message(host, std::span(wanted), T(0.7), m);
        with_each_set([&] {
            chosen on;
            auto const n = laconic::compress(c, x, laconic::key{3}, dispatched(chosen::kernels));
            std::vector<T> sum(d, T(0.3));
            add_message(on, std::span(sum), T(0.7), n);
            CHECK(both::same_bits(sum, wanted));
            auto const encoded = laconic::compressor_laws::written(n);
            laconic::wire::bit_reader source(encoded);
            auto theirs = n;
            sum.assign(d, T(0.3));
            laconic::wire::read_and_add(on, source, theirs, c, T(0.7), std::span(sum));
            CHECK(both::same_bits(sum, wanted));
        });
    }
}

TEST_CASE_TEMPLATE("messages are added as the host adds them", T, float, double) {
    using namespace laconic;
    messages_are_added_as_by_the_host<T>(scaled_sign{});
    messages_are_added_as_by_the_host<T>(scaled_sign{5});
    messages_are_added_as_by_the_host<T>(vote{});
    messages_are_added_as_by_the_host<T>(two_means{});
    messages_are_added_as_by_the_host<T>(uniform{3, 5});
    messages_are_added_as_by_the_host<T>(natural{});
    messages_are_added_as_by_the_host<T>(natural_dithering{4, 100});
    messages_are_added_as_by_the_host<T>(block_float{block_format::nvfp4});
    messages_are_added_as_by_the_host<T>(fp16{});
    messages_are_added_as_by_the_host<T>(bf16{});
    messages_are_added_as_by_the_host<T>(quantize{7, 128});
    messages_are_added_as_by_the_host<T>(quantize{300, 100});
    messages_are_added_as_by_the_host<T>(top_k{0.2} | quantize{7});
}

TEST_CASE("the smallest set is the baseline; a kernel runs with the set's own memory, also after a move") {
    REQUIRE(dispatched::sets().front() == "baseline");
    std::vector<float> const x(5000, 1);
    with_each_set([&] {
        chosen first;
        CHECK(first.dispatched::kernels() == chosen::kernels);
        dispatched on = std::move(first);
        std::vector<laconic::coordinate> at;
        select_largest(on, std::span<float const>(x), 3, at);
        CHECK(at == std::vector<laconic::coordinate>{0, 1, 2});
        CHECK(on.scratch<float>(laconic::detail::scratch_for::numbers, 0).data() == nullptr);
    });
}

TEST_CASE("LACONIC_KERNELS names the set, the largest without it; other names are refused with those that there are") {
    char const* const before = std::getenv("LACONIC_KERNELS");
    std::string const kept = before ? before : "";
    ::unsetenv("LACONIC_KERNELS");
    CHECK(dispatched().kernels() == dispatched::sets().back());
    for (auto const kernels : dispatched::sets()) {
        ::setenv("LACONIC_KERNELS", std::string(kernels).c_str(), 1);
        CHECK(dispatched().kernels() == kernels);
    }
    ::setenv("LACONIC_KERNELS", "avx1024", 1);
    std::string names;
    for (auto const kernels : dispatched::sets()) names += (names.empty() ? "" : ", ") + std::string(kernels);
    CHECK_THROWS_WITH_AS(
        dispatched(),
        ("this processor and build have no kernels \"avx1024\": LACONIC_KERNELS, where it is set, is one of " + names)
            .c_str(),
        laconic::argument_error);
    before ? ::setenv("LACONIC_KERNELS", kept.c_str(), 1) : ::unsetenv("LACONIC_KERNELS");
}

TEST_CASE("LACONIC_THREADS is the number of threads, 1 without it; what is none is refused") {
    char const* const before = std::getenv("LACONIC_THREADS");
    std::string const kept = before ? before : "";
    ::unsetenv("LACONIC_THREADS");
    CHECK(dispatched().threads() == 1);
    ::setenv("LACONIC_THREADS", "3", 1);
    CHECK(dispatched().threads() == 3);
    for (char const* const wrong : {"0", "-1", "two", "2x", "99999999999"}) {
        ::setenv("LACONIC_THREADS", wrong, 1);
        CHECK_THROWS_WITH_AS(
            dispatched(),
            (std::string("LACONIC_THREADS, where it is set, is a number of threads from 1 on, not \"") + wrong + "\"")
                .c_str(),
            laconic::argument_error);
    }
    before ? ::setenv("LACONIC_THREADS", kept.c_str(), 1) : ::unsetenv("LACONIC_THREADS");
}
