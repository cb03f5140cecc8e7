// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "laconic/compress/bin_means.hpp"
#include "laconic/compress/block_float.hpp"
#include "laconic/compress/centroids.hpp"
#include "laconic/compress/identity.hpp"
#include "laconic/compress/low_rank.hpp"
#include "laconic/compress/natural.hpp"
#include "laconic/compress/proportional.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/short_float.hpp"
#include "laconic/compress/signs.hpp"
#include "laconic/compress/threshold.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/wire/by_host.hpp"
#include "support/laws/messages.hpp"

/// Messages of some compressors on a backend, one of every kernel and of every kind of message: for compilers that
/// would take long to read messages_on.hpp, which has them all.
namespace laws {

/// The bytes of a message, and what it adds to zeros where it was made, and where it was read.
struct message_and_sums {
    bytes encoded;
    std::vector<float> added, added_by_reader;
    bool operator==(message_and_sums const&) const = default;
};
using messages_by_name = std::map<std::string, std::vector<message_and_sums>>;

template <class B, class C>
message_and_sums compress_on(B& on, C const& c, std::vector<float> const& here, laconic::key from) {
    using namespace laconic;
    using message = detail::message_of<C, float, B>;
    using numbers = typename B::template array<float>;
    message_and_sums all;
    numbers x(here.size());
    copy_from_host(on, std::span<float const>(here), std::span<float>(x));
    auto const add = [&](message const& m) {
        numbers sum(here.size());
        add_message(on, std::span<float>(sum), -1.5f, m);
        std::vector<float> added(here.size());
        copy_to_host(on, std::span<float const>(sum), std::span<float>(added));
        return added;
    };
    message m, received;
    c(on, std::span<float const>(x), from, m);
    all.added = add(m);
    wire::bit_writer sink;
    wire::by_host<message, B> way;
    way.write_message(sink, on, m);
    auto const written = sink.finish();
    all.encoded.assign(written.begin(), written.end());
    wire::bit_reader source(all.encoded);
    way.read_message(
        source, [&](auto& by, int, auto& blank) { return c.blank(by, here.size(), from, blank), c; }, 0, on, received);
    all.added_by_reader = add(received);
    return all;
}

template <class B>
messages_by_name some_messages() {
    using namespace laconic;
    messages_by_name all;
    B on;
    auto const compress_all = [&](std::string const& name, auto const& c) {
        for (std::uint64_t n = 0; n < 4; ++n) {
            std::size_t const d = std::size_t{96} << (3 * n);
            all[name].push_back(compress_on(on, c, noise<float>(d, n, static_cast<int>(n)), key{n}));
        }
    };
    compress_all("identity", identity{});
    compress_all("fp16", fp16{});
    compress_all("natural", natural{});
    compress_all("natural_dithering", natural_dithering{5, 100});
    compress_all("quantize", quantize{7, 100});
    compress_all("uniform", uniform{5, 100});
    compress_all("scaled_sign", scaled_sign{100});
    compress_all("two_means", two_means{100});
    compress_all("bin_means", bin_means{2, 100});
    compress_all("bin_means by sign", bin_means{3, 100, true});
    compress_all("centroids", centroids{3, 100});
    compress_all("block_float", block_float{block_format::nvfp4});
    compress_all("low_rank", low_rank<>{24, 2});
    compress_all("top_k", top_k{0.1});
    compress_all("top_k | quantize", top_k{0.1} | quantize{3});
    compress_all("about_top_k", about_top_k{0.1});
    compress_all("rand_k", rand_k{0.01});
    compress_all("rand_k | natural", rand_k{0.2} | natural{});
    compress_all("bernoulli", bernoulli{0.2});
    compress_all("threshold", threshold{0.7});
    compress_all("proportional", proportional{0.1});
    compress_all("zero_blocks", zero_blocks{16});
    compress_all("top_blocks", top_blocks{3, 16});
    return all;
}
/// The same on the host; not compiled anew for every backend.
messages_by_name some_messages_on_the_host();

}  // namespace laws
