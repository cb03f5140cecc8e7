// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "laconic/compress/compressor.hpp"
#include "laconic/compressor_laws.hpp"
#include "laconic/core/key.hpp"
#include "laconic/wire/message.hpp"

/// Vectors, messages and their bytes, without a test framework.
namespace laws {

using laconic::host;
using laconic::key;
using laconic::compressor_laws::bytes;

using laconic::compressor_laws::decoded;
using laconic::compressor_laws::noise;
using laconic::compressor_laws::vectors;
using laconic::compressor_laws::violation;
using laconic::compressor_laws::written;

/// 64 bits that name a sequence of bytes (FNV-1a).
struct digest {
    std::uint64_t value = 0xcbf29ce484222325u;
    void add(std::span<std::byte const> encoded) {
        for (std::byte const b : encoded) value = (value ^ std::to_integer<std::uint64_t>(b)) * 0x100000001b3u;
    }
};

}  // namespace laws
