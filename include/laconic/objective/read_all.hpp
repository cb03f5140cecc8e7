// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <exception>
#include <istream>
#include <streambuf>
#include <string>
#include <vector>

#include "laconic/core/error.hpp"

namespace laconic::detail {

/// The bytes of a stream up to its end, read through its buffer: its exceptions() do not matter, and its flags stay as
/// they are. Throws file_error with `name` where the stream is not good at first, or where its buffer fails.
inline std::string read_all(std::istream& in, std::string const& name) {
    if (!in || !in.rdbuf()) throw file_error(name, 0, 0, "cannot be read");
    std::string bytes;
    std::vector<char> chunk(1 << 16);
    try {
        while (auto const read = in.rdbuf()->sgetn(chunk.data(), static_cast<std::streamsize>(chunk.size())))
            bytes.append(chunk.data(), static_cast<std::size_t>(read));
    } catch (std::exception const&) {
        throw file_error(name, 0, 0, "cannot be read to its end");
    }
    return bytes;
}

}  // namespace laconic::detail
