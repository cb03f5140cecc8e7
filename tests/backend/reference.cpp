// SPDX-License-Identifier: Apache-2.0
// The host's messages are those of the reference, byte for byte, in every pipeline.
#include "laconic/backend/reference.hpp"

#include "support/everything.hpp"
#include "support/laws/definitions.hpp"
#include "support/laws/messages.hpp"
#include "support/laws/pipelines.hpp"

static_assert(kernels::Backend<reference, float> && kernels::Backend<reference, double>);

// The bytes of a compressor's message about x on a backend, or one byte where it throws an argument_error.
template <class B, class T>
std::vector<std::byte> encoded_on(std::string const& text, std::vector<T> const& x, key from) {
    B on;
    any_message<T, B> m;
    try {
        parse_compressor<T, B>(text)(on, std::span<T const>(x), from, m);
    } catch (argument_error const&) {
        return {std::byte{'!'}};
    }
    wire::bit_writer sink;
    write(sink, m);
    auto const bytes = sink.finish();
    return {bytes.begin(), bytes.end()};
}

TEST_CASE_TEMPLATE("the host encodes what the definition does, byte for byte, in every pipeline", T, float, double) {
    auto vectors = laws::vectors<T>();
    for (std::size_t const d : {15u, 16u, 17u, 31u, 64u, 1000u}) {  // around the widths of sums and of vectors
        std::vector<T> x(d);
        for (std::size_t i = 0; i < d; ++i) x[i] = static_cast<T>(std::tan(3 * (key{d}.uniform(i) - 0.5)));
        vectors.push_back(x);
    }
    std::size_t compared = 0, bytes = 0;
    for (auto const& text : laws::pipelines()) {
        CAPTURE(text);
        for (std::size_t i = 0; i < vectors.size(); ++i) {
            auto const encoded = encoded_on<host>(text, vectors[i], key{i});
            CHECK(encoded == encoded_on<reference>(text, vectors[i], key{i}));
            ++compared;
            bytes += encoded.size();
        }
    }
    CHECK(compared > 500);
    CHECK(bytes > 10000);
}
