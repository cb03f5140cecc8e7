// SPDX-License-Identifier: Apache-2.0
// Files are read plain or unpacked, up to a limit; broken, foreign and missing ones are refused by name.
#include "common/files.hpp"

#include <filesystem>

#include "laconic/core/error.hpp"
#include "support/own_file.hpp"
#include "support/test.hpp"

#ifdef LACONIC_HAVE_ZLIB
#    include <zlib.h>
#endif
#ifdef LACONIC_HAVE_LZMA
#    include <lzma.h>
#endif
#ifdef LACONIC_HAVE_BZIP2
#    include <bzlib.h>
#endif

// Long, and no piece of it like another.
std::string long_text() {
    std::string text;
    for (int i = 0; text.size() < 300000; ++i) text += std::to_string(i * i) + "\n";
    return text;
}

// What every packed file promises: texts of all lengths come back, also from several packed texts in one file; every
// beginning and every damage is refused, or read as some text, and nothing is read beyond the end.
void is_unpacked(std::function<std::string(std::string const&)> const& pack, std::string const& why) {
    own_file file;
    for (std::string const& text : {std::string(), std::string("a"), std::string(1 << 16, 'x'), long_text()}) {
        file.write(pack(text));
        CHECK(files::read_unpacked(file.path()) == text);
    }
    auto const two = pack("one\n") + pack(long_text());
    file.write(two);
    CHECK(files::read_unpacked(file.path()) == "one\n" + long_text());
    auto const small = pack("a text that is short");
    for (std::size_t n = 8; n < small.size(); ++n) {
        file.write(small.substr(0, n));
        CHECK_THROWS_WITH_AS(files::read_unpacked(file.path()), doctest::Contains(why.c_str()), laconic::file_error);
    }
    for (std::size_t const zeros : {1, 3, 4, 100000}) {
        file.write(pack("one\n") + std::string(zeros, '\0'));
        CHECK(files::read_unpacked(file.path()) == "one\n");
    }
    file.write(pack("one\n") + std::string(8, '\0') + "x");
    CHECK_THROWS_WITH_AS(files::read_unpacked(file.path()), doctest::Contains(why.c_str()), laconic::file_error);
    for (std::size_t const most : {100000, 299999, 300000}) {
        file.write(pack(std::string(300000, 'x')));
        if (most == 300000) {
            CHECK(files::read_unpacked(file.path(), {most, "--most"}).size() == most);
        } else {
            auto const expected =
                file.path() + ": it holds more than " + std::to_string(most) + " bytes; --most BYTES allows more";
            CHECK_THROWS_WITH_AS(files::read_unpacked(file.path(), {most, "--most"}), expected.c_str(),
                                 laconic::file_error);
        }
    }
    file.write(two.substr(0, two.size() / 2));
    CHECK_THROWS_AS(files::read_unpacked(file.path()), laconic::file_error);
    std::size_t refused = 0;
    for (std::size_t bit = 8 * 8; bit < 8 * small.size(); bit += 3) {
        auto damaged = small;
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
        file.write(damaged);
        try {
            files::read_unpacked(file.path());
        } catch (laconic::file_error const&) {
            ++refused;
        }
    }
    CHECK(refused > small.size());
}

TEST_CASE("files: plain ones as they are, whatever their bytes") {
    for (std::string const& text : {std::string(), std::string("a\r\n\0b", 5), std::string("\x1f"), long_text()})
        CHECK(files::read_unpacked(own_file(text).path()) == text);
}

TEST_CASE("files: what is not there, or is none, is refused by name") {
    CHECK_THROWS_WITH_AS(files::read_unpacked("nosuchfile"), "nosuchfile: No such file or directory",
                         laconic::file_error);
    auto const folder = std::filesystem::temp_directory_path().string();
    CHECK_THROWS_WITH_AS(files::read_unpacked(folder), doctest::Contains("is it a file?"), laconic::file_error);
}

TEST_CASE("files: what has no size and no end is read as far as the limit goes") {
    CHECK_THROWS_WITH_AS(files::read_unpacked("/dev/zero", {100000, {}}), "/dev/zero: it holds more than 100000 bytes",
                         laconic::file_error);
}

TEST_CASE("files: formats that are not read are named, with what unpacks them") {
    struct {
        std::string start, expected;
    } const cases[] = {{"\x28\xb5\x2f\xfd", "its format is zstd; unpack it first, with unzstd"},
                       {"PK\3\4", "its format is zip; unpack it first, with unzip"},
                       {"7z\xbc\xaf\x27\x1c", "its format is 7z; unpack it first, with 7z x"}};
    for (auto const& c : cases) {
        own_file const file(c.start + "rest");
        CHECK_THROWS_WITH_AS(files::read_unpacked(file.path()), doctest::Contains(c.expected.c_str()),
                             laconic::file_error);
    }
}

#ifdef LACONIC_HAVE_ZLIB
std::string gzipped(std::string const& text) {
    z_stream z{};
    REQUIRE(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    std::string packed(deflateBound(&z, static_cast<uLong>(text.size())), '\0');
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    z.avail_in = static_cast<uInt>(text.size());
    z.next_out = reinterpret_cast<Bytef*>(packed.data());
    z.avail_out = static_cast<uInt>(packed.size());
    REQUIRE(deflate(&z, Z_FINISH) == Z_STREAM_END);
    packed.resize(z.total_out);
    deflateEnd(&z);
    return packed;
}

TEST_CASE("files: gzip") { is_unpacked(gzipped, "its gzip data are broken or cut short"); }

TEST_CASE("files: without a limit of the user's, a file holds at most 64 MiB, or 200 times its size") {
    // 4 MiB of zeros take about 4 kB. Incompressible bytes in front make the file as large as is wanted.
    std::string const zeros(std::size_t{1} << 22, '\0'), unit = gzipped(zeros);
    std::string bomb, noise;
    for (int i = 0; i < 17; ++i) bomb += unit;
    own_file file(bomb);
    CHECK_THROWS_WITH_AS(files::read_unpacked(file.path(), {0, "--most"}),
                         doctest::Contains(": it holds more than 67108864 bytes (64 MiB, or 200 times its size where "
                                           "that is more); --most BYTES allows more"),
                         laconic::file_error);
    std::uint32_t state = 1;
    while (noise.size() < 375000) noise += static_cast<char>((state = 1664525 * state + 1013904223) >> 24);
    file.write(gzipped(noise) + bomb);
    CHECK(files::read_unpacked(file.path()).size() == 17 * zeros.size() + noise.size());
}
#endif

#ifdef LACONIC_HAVE_LZMA
TEST_CASE("files: xz") {
    auto const pack = [](std::string const& text) {
        std::string packed(lzma_stream_buffer_bound(text.size()), '\0');
        std::size_t size = 0;
        REQUIRE(lzma_easy_buffer_encode(
                    0, LZMA_CHECK_CRC32, nullptr, reinterpret_cast<std::uint8_t const*>(text.data()), text.size(),
                    reinterpret_cast<std::uint8_t*>(packed.data()), &size, packed.size()) == LZMA_OK);
        packed.resize(size);
        return packed;
    };
    is_unpacked(pack, "its xz data are broken or cut short");
}
#endif

#ifdef LACONIC_HAVE_BZIP2
TEST_CASE("files: bzip2") {
    auto const pack = [](std::string text) {
        auto size = static_cast<unsigned>(text.size() + text.size() / 100 + 600);
        std::string packed(size, '\0');
        REQUIRE(BZ2_bzBuffToBuffCompress(packed.data(), &size, text.data(), static_cast<unsigned>(text.size()), 1, 0,
                                         0) == BZ_OK);
        packed.resize(size);
        return packed;
    };
    is_unpacked(pack, "its bzip2 data are broken or cut short");
}
#endif
