// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <system_error>
#include <utility>

namespace output {
namespace {

int lost_because = 0;  // an errno

std::string folder_of(std::string const& path) {
    auto const folder = std::filesystem::path(path).parent_path().string();
    return folder.empty() ? "." : folder;
}

}  // namespace

std::string printable(std::string const& text) {
    std::string result;
    auto const byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    for (std::size_t i = 0; i < text.size();) {
        unsigned const lead = byte(i);
        std::size_t const length = lead < 0x80   ? 1
                                   : lead < 0xc2 ? 0
                                   : lead < 0xe0 ? 2
                                   : lead < 0xf0 ? 3
                                   : lead < 0xf5 ? 4
                                                 : 0;
        bool fine = length > 0 && lead >= 0x20 && lead != 0x7f;
        for (std::size_t j = 1; j < length; ++j) fine = fine && (byte(i + j) & 0xc0) == 0x80;
        // Too long an encoding, a surrogate, or beyond U+10FFFF; and the control characters from U+0080 to U+009F.
        if ((lead == 0xe0 && byte(i + 1) < 0xa0) || (lead == 0xed && byte(i + 1) > 0x9f) ||
            (lead == 0xf0 && byte(i + 1) < 0x90) || (lead == 0xf4 && byte(i + 1) > 0x8f) ||
            (lead == 0xc2 && byte(i + 1) < 0xa0))
            fine = false;
        result += fine ? text.substr(i, length) : "?";
        i += fine ? length : 1;
    }
    return result;
}

void prepare() {
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGXFSZ, SIG_IGN);
    for (int stream = 0; stream < 3; ++stream)
        if (::fcntl(stream, F_GETFD) < 0 && ::open("/dev/null", O_RDONLY) < 0) return;  // which takes the lowest number
}

void report(std::string const& line) {
    std::fputs((line + "\n").c_str(), stderr);
    std::fflush(stderr);
}

void print(std::string_view text) {
    errno = 0;
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
    if (lost_because == 0) lost_because = errno != 0 ? errno : EIO;
}

void require_printed() {
    errno = 0;
    bool const fine = std::cout.flush() && std::fflush(stdout) == 0 && !std::ferror(stdout);
    if (!fine && lost_because == 0) lost_because = errno != 0 ? errno : EIO;
    if (lost_because != 0) throw lost("standard output", 0, 0, std::strerror(lost_because));
}

file::file(std::string path) : path_(std::move(path)), target_(path_) {
    std::error_code none;
    if (auto const end = std::filesystem::canonical(path_, none); !none) target_ = end.string();
    struct stat before {};
    bool const is_there = ::stat(target_.c_str(), &before) == 0;
    if (!is_there || S_ISREG(before.st_mode)) {
        beside_ = target_ + ".XXXXXX";
        descriptor_ = ::mkstemp(beside_.data());
        if (descriptor_ >= 0) {
            mode_t mode = before.st_mode & 07777;
            if (!is_there) {
                mode_t const mask = ::umask(0);  // which can be read in no other way
                ::umask(mask);
                mode = 0666 & ~mask;
            }
            ::fchmod(descriptor_, mode);
        } else {
            beside_.clear();
            if (errno != EACCES && errno != EPERM && errno != EROFS && errno != ENAMETOOLONG) fail();
        }
    }
    if (descriptor_ < 0) descriptor_ = ::open(target_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (descriptor_ < 0) fail();
    ::fcntl(descriptor_, F_SETFD, FD_CLOEXEC);
}

file::~file() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!beside_.empty()) ::unlink(beside_.c_str());
}

void file::write(std::string_view text) {
    while (!text.empty()) {
        auto const written = ::write(descriptor_, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail();
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

void file::commit() {
    // On the disk first: else a machine that stops now could keep the new name and not what it names.
    if (!beside_.empty() && ::fsync(descriptor_) != 0) fail();
    if (::close(std::exchange(descriptor_, -1)) != 0) fail();
    if (beside_.empty()) return;
    if (::rename(beside_.c_str(), target_.c_str()) != 0) fail();
    beside_.clear();
}

void file::fail() const { throw lost(path_, 0, 0, std::string("cannot be written: ") + std::strerror(errno)); }

void write(std::string const& path, std::string_view text) {
    file out(path);
    out.write(text);
    out.commit();
}

void require_writable(std::string const& path) {
    auto const fail = [&](int reason) {
        throw laconic::file_error(path, 0, 0, std::string("cannot be written: ") + std::strerror(reason));
    };
    struct stat there {};
    if (::stat(path.c_str(), &there) == 0) {
        if (S_ISDIR(there.st_mode)) fail(EISDIR);
        if (::access(path.c_str(), W_OK) != 0) fail(errno);
    } else if (errno != ENOENT) {
        fail(errno);
    } else if (::access(folder_of(path).c_str(), W_OK | X_OK) != 0) {
        fail(errno);
    }
}

}  // namespace output
