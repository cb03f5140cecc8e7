// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

/// A file of this process's own, removed at the end; one at a time.
class own_file {
  public:
    explicit own_file(std::string const& content = "") { write(content); }
    own_file(own_file const&) = delete;
    own_file& operator=(own_file const&) = delete;
    ~own_file() { std::filesystem::remove(path_); }

    void write(std::string const& content) const { std::ofstream(path_, std::ios::binary) << content; }
    std::string const& path() const { return path_; }

  private:
    std::string path_ = (std::filesystem::temp_directory_path() / ("laconic_" + std::to_string(getpid()))).string();
};
