// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/objective/dataset.hpp"
#include "laconic/objective/read_all.hpp"

/// The IDX format of MNIST and its successors (http://yann.lecun.com/exdb/mnist): a magic number, the sizes, then
/// bytes; all integers big-endian. Streams hold plain bytes: a .gz is to be decompressed first.
namespace laconic {

/// Pictures in grey, 0 to 255, one after another, each row by row.
struct idx_images {
    std::size_t count = 0, height = 0, width = 0;
    std::vector<std::uint8_t> pixels;
};

namespace detail {

// What an IDX file holds, read from its first byte on.
class idx_reader {
  public:
    idx_reader(std::istream& stream, std::string const& name, std::uint32_t magic)
        : bytes_(read_all(stream, name)), name_(name) {
        if (auto const found = integer(); found != magic)
            throw file_error(name_, 0, 0, concat({"the magic number is ", found, ", not ", magic}));
    }
    std::span<char const> take(std::uint64_t size) {
        auto const left = std::span<char const>(bytes_).subspan(at_);
        if (left.size() < size)
            throw file_error(name_, 0, 0,
                             concat({"truncated: ", left.size(), " bytes where ", size, " are announced"}));
        at_ += size;
        return left.first(size);
    }
    std::uint32_t integer() {
        std::uint32_t value = 0;
        for (char const c : take(4)) value = value << 8 | static_cast<std::uint8_t>(c);
        return value;
    }
    std::vector<std::uint8_t> rest(std::uint64_t size) {
        auto const all = take(size);
        if (at_ < bytes_.size()) throw file_error(name_, 0, 0, "there are bytes after the last one announced");
        return {all.begin(), all.end()};
    }

  private:
    std::string const bytes_;
    std::string const& name_;
    std::size_t at_ = 0;
};

}  // namespace detail

/// Reads an IDX file of images: magic 0x00000803, count, height, width, bytes, up to the end of the stream. Throws
/// file_error (line 0) where the stream cannot be read, the magic number is another, a picture has no pixels, or bytes
/// are missing or left over; memory is bounded by what the stream holds.
inline idx_images read_idx_images(std::istream& stream, std::string const& name) {
    detail::idx_reader in(stream, name, 0x00000803);
    std::uint64_t const count = in.integer(), height = in.integer(), width = in.integer();
    auto const area = height * width;  // below 2^64
    if (area == 0 || area > (std::uint64_t{1} << 32) - 2)
        throw file_error(name, 0, 0, detail::concat({"pictures of ", height, " x ", width, " pixels"}));
    return {count, height, width, in.rest(count * area)};
}

/// Reads an IDX file of labels: magic 0x00000801, count, bytes. Throws as read_idx_images does.
inline std::vector<std::uint8_t> read_idx_labels(std::istream& stream, std::string const& name) {
    detail::idx_reader in(stream, name, 0x00000801);
    return in.rest(in.integer());
}

/// Makes one row of each picture: pixel / 255, in [0, 1]; zeros are not stored. Throws shape_error where the counts
/// differ and argument_error where there is no picture.
template <Scalar T = double>
dataset<T> idx_dataset(idx_images const& images, std::vector<std::uint8_t> const& labels, std::string name) {
    auto const area = images.height * images.width;
    if (images.count != labels.size() || images.pixels.size() != images.count * area)
        throw shape_error({name, ": ", images.count, " pictures of ", area, " pixels, but ", images.pixels.size(),
                           " pixels and ", labels.size(), " labels"});
    if (images.count == 0 || area == 0) throw argument_error({name, ": there is no picture"});

    auto const zeros = std::count(images.pixels.begin(), images.pixels.end(), 0);
    auto const each = [&](std::size_t j, auto put) {
        for (std::size_t i = 0; i < area; ++i)
            if (auto const pixel = images.pixels[j * area + i]) put(static_cast<std::ptrdiff_t>(i), T(pixel) / T(255));
    };
    return {std::move(name), detail::rows_of<T>(images.count, area, std::ptrdiff_t(images.pixels.size()) - zeros, each),
            std::vector<T>(labels.begin(), labels.end())};
}

}  // namespace laconic
