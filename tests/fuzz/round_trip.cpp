// SPDX-License-Identifier: Apache-2.0
// Any finite numbers are written, read back as the same and counted right by every compressor; others are refused.
#include <cmath>

#include "fuzz/fuzz.hpp"
#include "laconic/wire/described.hpp"

namespace {

template <class T>
void round_trip(fuzz::input in) {
    using namespace laconic;
    auto const s = fuzz::setting_of<T>(in);
    auto const positions = in.take<std::uint8_t>() % 2 == 0 ? position_code::smallest : position_code::fastest;
    std::vector<T> x(s.dimension);
    for (T& v : x) v = in.take<T>();
    bool const finite = std::all_of(x.begin(), x.end(), [](T v) { return std::isfinite(v); });

    host on;
    any_message<T, host> m, theirs;
    std::vector<std::byte> written;
    try {
        s.compressor(on, std::span<T const>(x), s.from, m);
        wire::bit_writer sink(positions);
        write(sink, m);
        auto const bytes = sink.finish();
        written.assign(bytes.begin(), bytes.end());
    } catch (argument_error const&) {
        return;  // a norm, a mean or a scaled number that is not finite
    }
    auto const name = to_string(s.compressor) + ", d = " + std::to_string(s.dimension);
    if (8 * written.size() != wire::bits(m, positions)) fuzz::found(name + ": the ledger is wrong");
    s.compressor.blank(on, s.dimension, s.from, theirs);
    try {
        wire::bit_reader source(written);
        read(on, source, theirs, s.compressor);
        source.finish();
    } catch (wire_error const& e) {
        if (finite) fuzz::found(name + ": its own message is refused: " + e.what());
        return;
    }
    if (!(theirs == m)) fuzz::found(name + ": another message comes back");
    auto const meant = laws::decoded<any_message<T, host>, T>(m);
    std::vector<T> strangers(s.dimension, T(0));
    read_described(write_described(m, {.positions = positions})).add_to(std::span<T>(strangers));
    if (strangers != meant) fuzz::found(name + ": a stranger reads another message");
}

}  // namespace

int fuzz_round_trip(std::uint8_t const* data, std::size_t size) {
    fuzz::input in(data, size);
    if (in.take<std::uint8_t>() % 2 == 0)
        round_trip<float>(in);
    else
        round_trip<double>(in);
    return 0;
}
