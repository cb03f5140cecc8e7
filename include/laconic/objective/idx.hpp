// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>
#include <utility>
#include <vector>

#include "laconic/objective/dataset.hpp"
#include "laconic/objective/stream_bytes.hpp"

/// The IDX format of MNIST and its successors (http://yann.lecun.com/exdb/mnist): a magic number, the sizes, then
/// bytes; all integers big-endian. Streams hold plain bytes: a .gz is to be decompressed first.
namespace laconic {

/// Pictures in grey, 0 to 255, one after another, each row by row.
struct idx_images {
    std::size_t count = 0, height = 0, width = 0;
    std::vector<std::uint8_t> pixels;
};

namespace detail {

// Reads `size` bytes, and holds at most one chunk more than the stream has, whatever `size` claims.
inline std::vector<std::uint8_t> read_bytes(stream_bytes& in, std::uint64_t size) {
    std::vector<std::uint8_t> bytes;
    std::array<char, 1 << 16> chunk;
    while (bytes.size() < size) {
        auto const wanted = std::min<std::uint64_t>(chunk.size(), size - bytes.size());
        auto const read = in.read(chunk.data(), static_cast<std::size_t>(wanted));
        bytes.insert(bytes.end(), chunk.data(), chunk.data() + read);
        if (read < wanted)
            throw file_error(in.name(), 0, 0,
                             concat({"truncated: ", bytes.size(), " bytes where ", size, " are announced"}));
    }
    return bytes;
}

inline std::uint32_t read_big_endian(stream_bytes& in) {
    auto const b = read_bytes(in, 4);
    return std::uint32_t{b[0]} << 24 | std::uint32_t{b[1]} << 16 | std::uint32_t{b[2]} << 8 | std::uint32_t{b[3]};
}

inline void expect_magic(stream_bytes& in, std::uint32_t magic) {
    if (auto const found = read_big_endian(in); found != magic)
        throw file_error(in.name(), 0, 0, concat({"the magic number is ", found, ", not ", magic}));
}

inline void expect_end(stream_bytes& in) {
    char more;
    if (in.read(&more, 1) > 0) throw file_error(in.name(), 0, 0, "there are bytes after the last one announced");
}

}  // namespace detail

/// Reads an IDX file of images: magic 0x00000803, count, height, width, bytes, up to the end of the stream. It reads
/// the stream's buffer, so that its exceptions() do not matter and its flags stay as they are. Throws file_error (line
/// 0) where the stream cannot be read, the magic number is another, a picture has no pixels, or bytes are missing or
/// left over; memory is bounded by what the stream holds, whatever sizes it claims.
inline idx_images read_idx_images(std::istream& stream, std::string const& name) {
    detail::stream_bytes in(stream, name);
    detail::expect_magic(in, 0x00000803);
    std::uint64_t const count = detail::read_big_endian(in);
    std::uint64_t const height = detail::read_big_endian(in), width = detail::read_big_endian(in);
    auto const area = height * width;  // below 2^64
    if (area == 0 || area > (std::uint64_t{1} << 32) - 2)
        throw file_error(name, 0, 0, detail::concat({"pictures of ", height, " x ", width, " pixels"}));
    idx_images images{count, height, width, detail::read_bytes(in, count * area)};
    detail::expect_end(in);
    return images;
}

/// Reads an IDX file of labels: magic 0x00000801, count, bytes. Throws as read_idx_images does.
inline std::vector<std::uint8_t> read_idx_labels(std::istream& stream, std::string const& name) {
    detail::stream_bytes in(stream, name);
    detail::expect_magic(in, 0x00000801);
    auto labels = detail::read_bytes(in, detail::read_big_endian(in));
    detail::expect_end(in);
    return labels;
}

/// Makes one row of each picture: pixel / 255, in [0, 1]; zeros are not stored. Throws shape_error where the counts
/// differ and argument_error where there is no picture.
template <Scalar T = double>
dataset<T> idx_dataset(idx_images const& images, std::vector<std::uint8_t> const& labels, std::string name) {
    auto const area = images.height * images.width;
    if (images.count != labels.size() || images.pixels.size() != images.count * area)
        throw shape_error(detail::concat({name, ": ", images.count, " pictures of ", area, " pixels, but ",
                                          images.pixels.size(), " pixels and ", labels.size(), " labels"}));
    if (images.count == 0 || area == 0) throw argument_error(detail::concat({name, ": there is no picture"}));

    auto const zeros = std::count(images.pixels.begin(), images.pixels.end(), 0);
    auto const each = [&](std::size_t j, auto put) {
        for (std::size_t i = 0; i < area; ++i)
            if (auto const pixel = images.pixels[j * area + i]) put(static_cast<std::ptrdiff_t>(i), T(pixel) / T(255));
    };
    return {std::move(name), detail::rows_of<T>(images.count, area, std::ptrdiff_t(images.pixels.size()) - zeros, each),
            std::vector<T>(labels.begin(), labels.end())};
}

}  // namespace laconic
