// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "files.hpp"
#include "laconic/objective/dataset.hpp"
#include "laconic/objective/libsvm.hpp"

namespace race {

/// What --data names: "fashion-mnist" (T-shirts against shirts, from Debian's package), "synthetic", or a LIBSVM file,
/// plain, .gz, .xz or .bz2, of no more than `most`, read as `how` says. Throws laconic::file_error with the place.
laconic::dataset<double> load(std::string const& data, std::uint64_t seed, files::limit const& most = {},
                              laconic::libsvm_format const& how = {});

}  // namespace race
