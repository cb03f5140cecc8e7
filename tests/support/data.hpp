// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lzma.h>

#include <fstream>

#include "laconic/core/error.hpp"
#include "laconic/objective/dataset.hpp"
#include "laconic/objective/libsvm.hpp"
#include "support/solvers.hpp"  // what Eigen solves is compiled once
#include "support/test.hpp"

// Real data for tests, from the folder LACONIC_TEST_DATA (a compile definition; "" where there is none). Nothing is
// returned, and a message says that the test skips, where there is no folder; a file missing from it is an error.

/// The whole of a file of the folder; what ends in .xz is decompressed.
inline std::optional<std::string> test_text(std::string const& name) {
    std::string const folder = LACONIC_TEST_DATA;
    if (folder.empty()) {
        MESSAGE("skipped: LACONIC_TEST_DATA names no folder with " << name);
        return std::nullopt;
    }
    std::ifstream file(folder + "/" + name, std::ios::binary);
    if (!file) throw laconic::file_error(folder + "/" + name, 0, 0, "cannot be opened");
    std::string packed{std::istreambuf_iterator<char>(file), {}};
    if (!name.ends_with(".xz")) return packed;

    std::string text;
    lzma_stream stream = LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&stream, UINT64_MAX, LZMA_CONCATENATED) != LZMA_OK)
        throw laconic::error("liblzma makes no decoder");
    stream.next_in = reinterpret_cast<std::uint8_t const*>(packed.data());
    stream.avail_in = packed.size();
    lzma_ret state = LZMA_OK;
    do {
        std::uint8_t chunk[1 << 16];
        stream.next_out = chunk;
        stream.avail_out = sizeof chunk;
        state = lzma_code(&stream, LZMA_FINISH);
        text.append(reinterpret_cast<char const*>(chunk), sizeof chunk - stream.avail_out);
    } while (state == LZMA_OK);
    lzma_end(&stream);
    if (state != LZMA_STREAM_END) throw laconic::file_error(name, 0, 0, "is no complete .xz file");
    return text;
}

/// A data set of the folder by its name without .xz, labels as in the file.
inline std::optional<laconic::dataset<double>> test_data(std::string name) {
    auto const text = test_text(name + ".xz");
    if (!text) return std::nullopt;
    return laconic::read_libsvm<double>(std::string_view(*text), name);
}
