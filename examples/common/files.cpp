// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ios>
#include <new>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "laconic/core/error.hpp"

#ifdef LACONIC_HAVE_ZLIB
#    include <zlib.h>
#endif
#ifdef LACONIC_HAVE_LZMA
#    include <lzma.h>
#endif
#ifdef LACONIC_HAVE_BZIP2
#    include <bzlib.h>
#endif

namespace files {
namespace {

using namespace std::string_view_literals;

/// Bytes that a file holds, as many as are allowed.
class contents {
  public:
    contents(std::string path, limit const& most) : path_(std::move(path)), option_(most.option), bytes_(most.bytes) {
        if (bytes_ > 0) return;
        std::error_code none;  // a pipe or a device has no size
        auto const size = std::filesystem::is_regular_file(path_, none) ? std::filesystem::file_size(path_, none) : 0;
        bytes_ = std::uint64_t{1} << 26;
        if (!none) bytes_ = std::max<std::uint64_t>(bytes_, size < UINT64_MAX / 200 ? 200 * size : UINT64_MAX);
        by_default_ = true;
    }

    std::string const& path() const { return path_; }
    [[noreturn]] void fail(std::string const& why) const { throw laconic::file_error(path_, 0, 0, why); }

    void append(char const* bytes, std::size_t count) {
        if (count > bytes_ - text_.size())
            fail("it holds more than " + std::to_string(bytes_) + " bytes" +
                 (by_default_ ? " (64 MiB, or 200 times its size where that is more)" : "") +
                 (option_.empty() ? "" : "; " + option_ + " BYTES allows more"));
        text_.append(bytes, count);
    }
    std::string take() { return std::move(text_); }

  private:
    std::string path_, option_, text_;
    std::uint64_t bytes_;
    bool by_default_ = false;
};

std::string read_file(contents into) {
    std::ifstream in(into.path(), std::ios::binary);
    if (!in) into.fail(std::strerror(errno));
    std::vector<char> piece(1 << 16);
    try {
        while (auto const read = in.rdbuf()->sgetn(piece.data(), static_cast<std::streamsize>(piece.size())))
            into.append(piece.data(), static_cast<std::size_t>(read));
    } catch (std::ios_base::failure const&) {
        into.fail("cannot be read; is it a file?");
    }
    return into.take();
}

enum class state { more, ended, broken };

/// Lets run(z), of a decoder's library, consume `in` and fill `out`: both become what is left. Returns its status.
template <class Stream, class Run>
auto advance(Stream& z, std::string_view& in, std::span<char>& out, Run run) {
    auto const given = std::min<std::size_t>(in.size(), 1 << 30);  // some count in 32 bits
    z.next_in = reinterpret_cast<decltype(z.next_in)>(const_cast<char*>(in.data()));
    z.avail_in = static_cast<decltype(z.avail_in)>(given);
    z.next_out = reinterpret_cast<decltype(z.next_out)>(out.data());
    z.avail_out = static_cast<decltype(z.avail_out)>(out.size());
    auto const status = run(z);
    in.remove_prefix(given - z.avail_in);
    out = out.last(z.avail_out);
    return status;
}

#ifdef LACONIC_HAVE_ZLIB
class gzip {
  public:
    gzip() {
        if (inflateInit2(&z_, 15 + 16) != Z_OK) throw std::bad_alloc();
    }
    ~gzip() { inflateEnd(&z_); }
    gzip(gzip const&) = delete;
    gzip& operator=(gzip const&) = delete;

    void restart() { inflateReset(&z_); }
    state step(std::string_view& in, std::span<char>& out) {
        auto const status = advance(z_, in, out, [](z_stream& z) { return inflate(&z, Z_NO_FLUSH); });
        return status == Z_STREAM_END ? state::ended : status == Z_OK ? state::more : state::broken;
    }

  private:
    z_stream z_{};
};
#endif

#ifdef LACONIC_HAVE_LZMA
class xz {
  public:
    xz() { restart(); }
    ~xz() { lzma_end(&z_); }
    xz(xz const&) = delete;
    xz& operator=(xz const&) = delete;

    void restart() {
        if (lzma_stream_decoder(&z_, UINT64_MAX, 0) != LZMA_OK) throw std::bad_alloc();
    }
    state step(std::string_view& in, std::span<char>& out) {
        auto const status = advance(z_, in, out, [](lzma_stream& z) { return lzma_code(&z, LZMA_RUN); });
        return status == LZMA_STREAM_END ? state::ended : status == LZMA_OK ? state::more : state::broken;
    }

  private:
    lzma_stream z_ = LZMA_STREAM_INIT;
};
#endif

#ifdef LACONIC_HAVE_BZIP2
class bzip2 {
  public:
    bzip2() { start(); }
    ~bzip2() { BZ2_bzDecompressEnd(&z_); }
    bzip2(bzip2 const&) = delete;
    bzip2& operator=(bzip2 const&) = delete;

    void restart() {
        BZ2_bzDecompressEnd(&z_);
        start();
    }
    state step(std::string_view& in, std::span<char>& out) {
        auto const status = advance(z_, in, out, [](bz_stream& z) { return BZ2_bzDecompress(&z); });
        return status == BZ_STREAM_END ? state::ended : status == BZ_OK ? state::more : state::broken;
    }

  private:
    void start() {
        z_ = {};
        if (BZ2_bzDecompressInit(&z_, 0, 0) != BZ_OK) throw std::bad_alloc();
    }
    bz_stream z_{};
};
#endif

/// A file may be of several streams, with zeros between them and at the end.
template <class Decoder>
std::string unpack(std::string_view packed, contents into, std::string const& format) {
    Decoder decoder;
    std::vector<char> piece(1 << 16);
    for (;;) {
        std::span<char> room(piece);
        auto const before = packed.size();
        auto const now = decoder.step(packed, room);
        into.append(piece.data(), piece.size() - room.size());
        bool const idle = packed.size() == before && room.size() == piece.size();
        if (now == state::broken || (now == state::more && idle))
            into.fail("its " + format + " data are broken or cut short");
        if (now == state::more) continue;
        packed.remove_prefix(std::min(packed.find_first_not_of('\0'), packed.size()));
        if (packed.empty()) return into.take();
        decoder.restart();
    }
}

/// Formats by their first bytes that are not read here, and what unpacks them.
struct foreign {
    std::string_view start, name, program;
};
constexpr foreign all_foreign[] = {
#ifndef LACONIC_HAVE_ZLIB
    {"\x1f\x8b"sv, "gzip, for which this program was built without zlib", "gunzip"},
#endif
#ifndef LACONIC_HAVE_LZMA
    {"\xfd"
     "7zXZ\0"sv,
     "xz, for which this program was built without liblzma", "unxz"},
#endif
#ifndef LACONIC_HAVE_BZIP2
    {"BZh"sv, "bzip2, for which this program was built without libbz2", "bunzip2"},
#endif
    {"\x28\xb5\x2f\xfd"sv, "zstd", "unzstd"},
    {"\x04\x22\x4d\x18"sv, "lz4", "unlz4"},
    {"PK\3\4"sv, "zip", "unzip"},
    {"7z\xbc\xaf\x27\x1c"sv, "7z", "7z x"},
    {"LZIP"sv, "lzip", "lzip -d"},
    {"\x1f\x9d"sv, "compress", "uncompress"},
};

}  // namespace

std::string read_unpacked(std::string const& path, limit const& most) {
    contents const empty(path, most);
    auto bytes = read_file(empty);
#ifdef LACONIC_HAVE_ZLIB
    if (bytes.starts_with("\x1f\x8b"sv)) return unpack<gzip>(bytes, empty, "gzip");
#endif
#ifdef LACONIC_HAVE_LZMA
    if (bytes.starts_with("\xfd"
                          "7zXZ\0"sv))
        return unpack<xz>(bytes, empty, "xz");
#endif
#ifdef LACONIC_HAVE_BZIP2
    if (bytes.starts_with("BZh"sv)) return unpack<bzip2>(bytes, empty, "bzip2");
#endif
    for (auto const& each : all_foreign)
        if (bytes.starts_with(each.start))
            empty.fail("its format is " + std::string(each.name) + "; unpack it first, with " +
                       std::string(each.program));
    return bytes;
}

}  // namespace files
