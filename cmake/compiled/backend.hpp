// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/dispatched.hpp"

/// The backend that the sources here are compiled for. This repository's own programs, which need what the parsers make
/// for `host`, define it so.
#ifndef LACONIC_BACKEND
#    define LACONIC_BACKEND dispatched
#endif
namespace laconic::compiled {
using backend = LACONIC_BACKEND;
}
