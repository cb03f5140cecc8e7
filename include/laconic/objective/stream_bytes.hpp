// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <exception>
#include <istream>
#include <streambuf>
#include <string>
#include <utility>

#include "laconic/core/error.hpp"

namespace laconic::detail {

/// The bytes of a stream, read through its buffer: whatever exceptions() the stream has, its end throws nothing, and
/// its flags stay as they are. Throws file_error with `name` where the stream is not good at first, or where its buffer
/// fails.
class stream_bytes {
  public:
    stream_bytes(std::istream& in, std::string name) : bytes_(in.rdbuf()), name_(std::move(name)) {
        if (!in || !bytes_) throw file_error(name_, 0, 0, "cannot be read");
    }

    /// Reads `wanted` bytes, fewer only where the stream ends, and returns how many.
    std::size_t read(char* to, std::size_t wanted) {
        try {
            return static_cast<std::size_t>(bytes_->sgetn(to, static_cast<std::streamsize>(wanted)));
        } catch (std::exception const&) {
            throw file_error(name_, 0, 0, "cannot be read to its end");
        }
    }

    std::string const& name() const { return name_; }

  private:
    std::streambuf* bytes_;
    std::string name_;
};

}  // namespace laconic::detail
