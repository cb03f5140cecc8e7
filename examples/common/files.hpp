// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace files {

/// How many bytes a file may hold once it is decompressed, so that a small file cannot fill the memory.
struct limit {
    std::uint64_t bytes = 0;  ///< 0: 64 MiB, or 200 times what the file takes on the disk where that is more
    std::string option = {};  ///< of the program's, which sets `bytes`: errors name it
};

/// What a file holds, decompressed where it is .gz, .xz or .bz2 by its first bytes; zeros may follow the compressed
/// data. Throws laconic::file_error where the file cannot be read, is broken, is compressed by another program, or
/// holds more than the limit, of which no more than that is ever in memory.
std::string read_unpacked(std::string const& path, limit const& most = {});

}  // namespace files
