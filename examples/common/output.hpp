// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "laconic/core/error.hpp"

/// What programs leave behind: nothing gets lost in silence, and no file is ever there in part.
namespace output {

/// An output that got lost: where, and why.
struct lost : laconic::file_error {
    using file_error::file_error;
};

/// The text as UTF-8 of one line: a '?' stands for each byte that is none and for each control character. For
/// terminals, and for gnuplot, where a new line would be a command.
std::string printable(std::string const& text);

/// Called first of all, so that a reader who has left, a limit of the size of files and a closed standard stream cost
/// one output and not the program: ignores SIGPIPE and SIGXFSZ, which writes then report as errors, and puts a stream
/// that refuses to be written in the place of each standard stream that is closed, so that no file gets its number.
void prepare();
/// Prints a line, and a new line, to standard error. Where that fails it is lost: nobody could be told.
void report(std::string const& line);
/// Prints to standard output at once. Where that fails, the program goes on, for it may have other outputs.
void print(std::string_view text);
/// Throws lost where something that was printed got lost, through std::cout too. A program calls it before it ends.
void require_printed();

/// A file that appears whole or not at all: it is written beside the one that it takes the place of in commit(), and is
/// removed where that is never called. What is there and is no regular file, such as a device or a pipe, is written as
/// it is, and so is a file in a folder where none can be made. A symbolic link stays one, and a file keeps its mode.
/// All members throw lost.
class file {
  public:
    explicit file(std::string path);
    ~file();
    file(file const&) = delete;
    file& operator=(file const&) = delete;

    void write(std::string_view text);
    void commit();
    /// Of the open file, for a process to write to.
    int descriptor() const { return descriptor_; }

  private:
    std::string path_, target_, beside_;
    int descriptor_ = -1;

    [[noreturn]] void fail() const;
};

/// Writes a whole file.
void write(std::string const& path, std::string_view text);
/// Throws laconic::file_error, with the reason, where no file could be written there now. Makes and changes nothing.
void require_writable(std::string const& path);

}  // namespace output
