// SPDX-License-Identifier: Apache-2.0
// A host on several threads is a backend, floats and doubles in turn, and a reducer takes it.
#include "laconic/backend/threaded.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/comm/threads.hpp"
#include "laconic/compress/compressors.hpp"
#include "laconic/compressor_laws.hpp"
#include "laconic/reducer.hpp"
#include "support/test.hpp"

using namespace laconic;

static_assert(kernels::Backend<threaded<>, float> && kernels::Backend<threaded<>, double>);

struct eager : threaded<> {
    explicit eager(int threads) : threaded(threads) { split_from(1000); }
};

// The estimates of two ranks after two steps, one after the other.
template <class B>
std::vector<float> estimates(auto const& how, std::size_t d, B (*make)()) {
    std::vector<std::vector<float>> all(2);
    threads::run(2, [&](auto& comm) {
        auto& x = all[static_cast<std::size_t>(comm.rank())];
        reducer reduce(how, comm, d, {.seed = 1}, make());
        for (int step = 0; step < 2; ++step) {
            x = compressor_laws::noise<float>(d, 3 + static_cast<std::uint64_t>(comm.rank()), 1);
            reduce(x);
        }
    });
    all[0].insert(all[0].end(), all[1].begin(), all[1].end());
    return all[0];
}

TEST_CASE("a reducer on several threads has the estimates of one") {
    for (std::size_t const d : {999u, 1000u, 20011u}) {
        CAPTURE(d);
        auto const check = [&](auto const& how) {
            CAPTURE(to_string(how));
            auto const wanted = estimates<host>(how, d, [] { return host(); });
            CHECK(estimates<eager>(how, d, [] { return eager(2); }) == wanted);
            CHECK(estimates<eager>(how, d, [] { return eager(5); }) == wanted);
        };
        check(error_feedback{top_k{0.01}});
        check(error_feedback{scaled_sign{}});
        check(shifted{quantize{7, 512}});
        check(plain{natural{}});
    }
}

// What reading these bytes as a message of natural{} says, and the sum where it succeeds.
template <class B>
std::pair<std::string, std::vector<float>> read_by(B on, std::vector<std::byte> const& bytes, std::size_t d) {
    messages::powers<float, B> m;
    natural{}.blank(on, d, key{1}, m);
    wire::bit_reader source(bytes);
    std::vector<float> sum(d, 0.5f);
    try {
        wire::read_and_add(on, source, m, natural{}, 0.25f, std::span(sum));
        CHECK(source.at() == 9 * d);
        return {"", sum};
    } catch (wire_error const& e) {
        return {e.what(), {}};
    }
}

TEST_CASE("bytes are read in parts as by one thread, and refused for the first that is wrong") {
    std::size_t const d = 20011;
    auto const m = compress(natural{}, compressor_laws::noise<float>(d, 3, 1), key{1});
    auto const bytes = compressor_laws::written(m);
    CHECK(read_by(eager(3), bytes, d) == read_by(host(), bytes, d));
    auto const wrong = [&](std::size_t first, std::size_t more) {
        auto damaged = bytes;
        for (std::size_t const at : {first, more}) damaged[at] = damaged[at + 1] = std::byte{0xff};
        auto const [text, sum] = read_by(eager(3), damaged, d);
        CHECK_FALSE(text.empty());
        CHECK(text == read_by(host(), damaged, d).first);
    };
    wrong(100, 20000);
    wrong(20000, 12000);
    wrong(22000, 22000);
    auto const cut = std::vector(bytes.begin(), bytes.end() - 9);
    CHECK(read_by(eager(3), cut, d).first == read_by(host(), cut, d).first);
}
