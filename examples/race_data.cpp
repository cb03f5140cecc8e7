// SPDX-License-Identifier: Apache-2.0
#include "race_data.hpp"

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <numbers>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "laconic/core/key.hpp"
#include "laconic/objective/idx.hpp"
#include "laconic/objective/libsvm.hpp"

#ifdef LACONIC_HAVE_ZLIB
#    include <zlib.h>
#endif
#ifdef LACONIC_HAVE_LZMA
#    include <lzma.h>
#endif

namespace race {
namespace {

std::string read_file(std::string const& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw laconic::file_error(path, 0, 0, std::strerror(errno));
    std::ostringstream bytes;
    if (in.peek() != std::ifstream::traits_type::eof()) bytes << in.rdbuf();
    if (in.bad() || bytes.bad()) throw laconic::file_error(path, 0, 0, "cannot be read; is it a file?");
    return std::move(bytes).str();
}

#ifdef LACONIC_HAVE_ZLIB
std::string gunzip(std::string const& packed, std::string const& path) {
    z_stream z{};
    if (inflateInit2(&z, 15 + 16) != Z_OK) throw std::bad_alloc();
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    std::string plain;
    std::vector<char> piece(1 << 16);
    int status = Z_OK;
    for (std::size_t fed = 0; status != Z_STREAM_END || fed < packed.size();) {
        if (status == Z_STREAM_END) status = inflateReset(&z);  // a file of several members
        auto const now = static_cast<uInt>(std::min<std::size_t>(packed.size() - fed, 1 << 30));
        z.avail_in = now;
        z.next_out = reinterpret_cast<Bytef*>(piece.data());
        z.avail_out = static_cast<uInt>(piece.size());
        status = inflate(&z, Z_NO_FLUSH);
        fed += now - z.avail_in;
        plain.append(piece.data(), piece.size() - z.avail_out);
        if (status != Z_OK && status != Z_STREAM_END) break;
    }
    inflateEnd(&z);
    if (status != Z_STREAM_END) throw laconic::file_error(path, 0, 0, "its gzip data are broken or cut short");
    return plain;
}
#else
std::string gunzip(std::string const&, std::string const& path) {
    throw laconic::file_error(path, 0, 0, "this build has no zlib and cannot read gzip");
}
#endif

#ifdef LACONIC_HAVE_LZMA
std::string unxz(std::string const& packed, std::string const& path) {
    lzma_stream z = LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&z, UINT64_MAX, LZMA_CONCATENATED) != LZMA_OK) throw std::bad_alloc();
    z.next_in = reinterpret_cast<std::uint8_t const*>(packed.data());
    z.avail_in = packed.size();
    std::string plain;
    std::vector<char> piece(1 << 16);
    lzma_ret status = LZMA_OK;
    while (status == LZMA_OK) {
        z.next_out = reinterpret_cast<std::uint8_t*>(piece.data());
        z.avail_out = piece.size();
        status = lzma_code(&z, LZMA_FINISH);
        plain.append(piece.data(), piece.size() - z.avail_out);
    }
    lzma_end(&z);
    if (status != LZMA_STREAM_END) throw laconic::file_error(path, 0, 0, "its xz data are broken or cut short");
    return plain;
}
#else
std::string unxz(std::string const&, std::string const& path) {
    throw laconic::file_error(path, 0, 0, "this build has no liblzma and cannot read xz");
}
#endif

std::string read_unpacked(std::string const& path) {
    using namespace std::string_view_literals;
    auto bytes = read_file(path);
    if (bytes.starts_with("\x1f\x8b"sv)) return gunzip(bytes, path);
    if (bytes.starts_with("\xfd"
                          "7zXZ\0"sv))
        return unxz(bytes, path);
    return bytes;
}

laconic::dataset<double> fashion_mnist() {
    std::string const folder = "/usr/share/datasets/fashion-mnist/";
    std::string const images = folder + "train-images-idx3-ubyte.gz", labels = folder + "train-labels-idx1-ubyte.gz";
    if (!std::ifstream(images))
        throw laconic::file_error(images, 0, 0,
                                  "not there; Debian's package dataset-fashion-mnist brings it, or give --data FILE");
    std::istringstream image_bytes(read_unpacked(images)), label_bytes(read_unpacked(labels));
    auto const all = laconic::idx_dataset<double>(laconic::read_idx_images(image_bytes, images),
                                                  laconic::read_idx_labels(label_bytes, labels), "fashion-mnist");
    return laconic::only_classes(all, 0.0, 6.0);  // T-shirt/top against shirt: the pair that is hardest to tell apart
}

double gaussian(laconic::key k, std::uint64_t n) {
    return std::sqrt(-2 * std::log1p(-k.uniform(2 * n))) * std::cos(2 * std::numbers::pi * k.uniform(2 * n + 1));
}

// A noisy linear rule on features of falling scale. Each block of 200 rows has a mean of its own, so that workers
// differ.
laconic::dataset<double> synthetic(std::uint64_t seed) {
    constexpr std::size_t rows = 4000, features = 200, block = 200;
    laconic::key const k = laconic::key{seed}.child(0x73796e74);
    laconic::key const rule = k.child(0), noise = k.child(1), shift = k.child(2), value = k.child(3);
    laconic::dataset<double> data{"synthetic", {}, {}};
    data.rows.resize(rows, features);
    data.rows.reserve(rows * features);
    for (std::size_t j = 0; j < rows; ++j) {
        double z = gaussian(noise, j);
        data.rows.startVec(static_cast<std::ptrdiff_t>(j));
        for (std::size_t i = 0; i < features; ++i) {
            double const scale = 1 / std::sqrt(1.0 + static_cast<double>(i));
            double const v = scale * (gaussian(value.child(j), i) + gaussian(shift.child(j / block), i));
            z += v * gaussian(rule, i);
            data.rows.insertBack(static_cast<std::ptrdiff_t>(j), static_cast<std::ptrdiff_t>(i)) = v;
        }
        data.labels.push_back(z > 0 ? 1 : -1);
    }
    data.rows.finalize();
    return data;
}

}  // namespace

laconic::dataset<double> load(std::string const& data, std::uint64_t seed) {
    if (data == "fashion-mnist") return fashion_mnist();
    if (data == "synthetic") return synthetic(seed);
    return laconic::read_libsvm<double>(std::string_view(read_unpacked(data)), data);
}

}  // namespace race
