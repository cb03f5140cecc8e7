// SPDX-License-Identifier: Apache-2.0
// seeds FOLDER: writes a corpus for each fuzz target, of true messages of every pipeline and of random events.
#include <filesystem>
#include <fstream>

#include "fuzz/fuzz.hpp"
#include "laconic/wire/described.hpp"
#include "support/own_messages.hpp"

namespace {

void save(std::filesystem::path const& path, std::span<std::byte const> bytes) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<char const*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!file.flush()) {
        std::fprintf(stderr, "cannot write %s\n", path.c_str());
        std::exit(1);
    }
}

template <class T>
void write_seeds(std::filesystem::path const& folder, std::byte type) {
    std::size_t which = 0;
    auto const seeds_of = [&](auto const& c, std::vector<std::size_t> const& lengths) {
        for (std::size_t const d : lengths) {
            auto const x = laws::noise<T>(d, which);
            auto const m = compress(c, x, laconic::key{which});
            auto const name = std::to_string(sizeof(T)) + "-" + std::to_string(which) + "-" + std::to_string(d);
            std::vector<std::byte> start{type};
            auto const header = fuzz::header(which, d, which);
            start.insert(start.end(), header.begin(), header.end());
            auto bare = start, numbers = start;
            auto const written = laws::written(m);
            bare.insert(bare.end(), written.begin(), written.end());
            numbers.push_back(std::byte{0});
            auto const raw = std::as_bytes(std::span(x));
            numbers.insert(numbers.end(), raw.begin(), raw.end());
            save(folder / "bare" / name, bare);
            save(folder / "round_trip" / name, numbers);
            save(folder / "described" / name, laconic::write_described(m, {.with_checksum = false}));
        }
        ++which;
    };
    laws::each_pipeline<T>([&](auto const& c) { seeds_of(c, {7, 40}); });
    for (auto const& text : laws::in_parts()) seeds_of(laconic::parse_compressor<T>(text), {laws::length_in_parts});
    // Of users' types, for strangers alone.
    auto const own_seed = [&](auto const& c, std::size_t d) {
        auto const m = compress(c, laws::noise<T>(d, d), laconic::key{d});
        save(folder / "described" / ("own-" + std::to_string(sizeof(T)) + "-" + std::to_string(which++)),
             laconic::write_described(m, {.with_checksum = false}));
    };
    own::round_to const rounded{0.01, 5};
    own_seed(rounded, 9);
    own_seed(own::mean{}, 30);
    own_seed(laconic::top_k{4} | rounded, 40);
    own_seed(laconic::threshold{0.5} | rounded, 40);
    own_seed(laconic::bernoulli{0.3} | own::mean{}, 40);
    own_seed(
        laconic::parts<laconic::any_compressor<T>>{{7, rounded}, {5, own::mean{}}, {8, laconic::top_k{2} | rounded}},
        20);
}

}  // namespace

int fuzz_seeds(int count, char** arguments) {
    if (count != 2) {
        std::fprintf(stderr, "usage: seeds FOLDER\n");
        return 2;
    }
    write_seeds<float>(arguments[1], std::byte{0});
    write_seeds<double>(arguments[1], std::byte{1});
    for (std::uint64_t which = 0; which < 40; ++which) {
        std::vector<std::byte> events(60 + 30 * which);
        for (std::size_t i = 0; i < events.size(); ++i) events[i] = std::byte(laconic::key{which}.below(i, 256));
        save(std::filesystem::path(arguments[1]) / "packets" / std::to_string(which), events);
        // Most collective calls are honest, so that a step comes far: five reductions.
        for (std::size_t i = 4; i < events.size(); ++i)
            if (laconic::key{which}.below(events.size() + i, 3) > 0) events[i] = std::byte{0};
        events[0] = static_cast<std::byte>(which);
        save(std::filesystem::path(arguments[1]) / "reducer" / std::to_string(which), events);
    }
    return 0;
}
