// SPDX-License-Identifier: Apache-2.0
// Any bytes to the receivers of all compositions are refused, or are a message that is written again as the same bytes.
#include "fuzz/fuzz.hpp"

int fuzz_bare(std::uint8_t const* data, std::size_t size) {
    fuzz::input in(data, size);
    auto const run = [&]<class T>(T) {
        auto const s = fuzz::setting_of<T>(in);
        bool accepted = false;
        std::string const trouble = laws::violation<T>(s.compressor, s.dimension, s.from, in.rest(), accepted);
        if (!trouble.empty()) fuzz::found(to_string(s.compressor) + ": " + trouble);
    };
    if (in.take<std::uint8_t>() % 2 == 0)
        run(0.0f);
    else
        run(0.0);
    return 0;
}
