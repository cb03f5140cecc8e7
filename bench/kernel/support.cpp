// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernel.hpp"
#include "laconic/wire/support.hpp"

namespace kernel_bench {

namespace {

using namespace laconic;

// Every positions' code writes the shortest of some; this is what makes the shortest one `code`.
struct encoding {
    char const* name;
    position_code how;
    std::initializer_list<double> shares;
};
encoding const encodings[] = {{"rice", position_code::smallest, {1e-4, 1e-3, 1e-2, 1e-1}},
                              {"packed", position_code::fastest, {1e-4, 1e-3, 1e-2, 1e-1}},
                              {"bitmap", position_code::fastest, {0.5}}};

std::vector<coordinate> largest(std::span<float const> x, std::size_t k) {
    backend on;
    std::vector<coordinate> at;
    select_largest(on, x, k, at);
    return at;
}
std::vector<std::byte> written(std::size_t d, std::vector<coordinate> const& at, position_code how) {
    wire::bit_writer sink(how);
    write_support(sink, d, std::span<coordinate const>(at));
    auto const bytes = sink.finish();
    return {bytes.begin(), bytes.end()};
}

// As bytes: the coordinates in memory. items_per_second are coordinates.
void add_case(encoding const& s, std::size_t d, std::size_t k) {
    auto const as = [&](std::string verb) {
        return scenario{std::move(verb) + s.name, input::gauss, d, k, k * sizeof(coordinate), 0, k};
    };
    add<float>(as("encode_"), [k, how = s.how](std::span<float const> x) {
        return [d = x.size(), at = largest(x, k), sink = wire::bit_writer(how)]() mutable {
            sink.clear();
            write_support(sink, d, std::span<coordinate const>(at));
            benchmark::DoNotOptimize(sink.finish().data());
        };
    });
    add<float>(as("size_"), [k, how = s.how](std::span<float const> x) {
        return [d = x.size(), at = largest(x, k), how] {
            wire::ledger books(how);
            write_support(books, d, std::span<coordinate const>(at));
            auto bits = books.bits();
            benchmark::DoNotOptimize(bits);
        };
    });
    add<float>(as("decode_"), [k, how = s.how](std::span<float const> x) {
        return
            [d = x.size(), bytes = written(x.size(), largest(x, k), how), at = std::vector<coordinate>(k)]() mutable {
                wire::bit_reader source(bytes);
                read_support(source, d, std::span<coordinate>(at));
                benchmark::DoNotOptimize(at.data());
            };
    });
}

}  // namespace

void add_support() {
    for (auto const& s : encodings)
        for (double const share : s.shares)
            add_case(s, in_memory, static_cast<std::size_t>(share * static_cast<double>(in_memory)));
}

}  // namespace kernel_bench
