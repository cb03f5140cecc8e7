// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace files {

/// What a file holds, decompressed where it is .gz or .xz by its first bytes. Throws laconic::file_error.
std::string read_unpacked(std::string const& path);

}  // namespace files
