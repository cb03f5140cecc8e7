// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <new>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "laconic/core/error.hpp"

#ifdef LACONIC_HAVE_ZLIB
#    include <zlib.h>
#endif
#ifdef LACONIC_HAVE_LZMA
#    include <lzma.h>
#endif

namespace files {
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

}  // namespace

std::string read_unpacked(std::string const& path) {
    using namespace std::string_view_literals;
    auto bytes = read_file(path);
    if (bytes.starts_with("\x1f\x8b"sv)) return gunzip(bytes, path);
    if (bytes.starts_with("\xfd"
                          "7zXZ\0"sv))
        return unxz(bytes, path);
    return bytes;
}

}  // namespace files
