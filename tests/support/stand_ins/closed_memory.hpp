// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "support/closed_pages.hpp"

/// The memory of a device that is the processor, closed but while a kernel or a copy runs. backend/device/system.hpp
/// includes this in place of its own allocate() where LACONIC_DEVICE_MEMORY names it.
namespace laconic::detail::on_device {

inline void* allocate(std::size_t bytes) { return laconic_test::closed_pages::all().get(bytes); }
inline void release(void* place) noexcept { laconic_test::closed_pages::all().give_back(place); }

using memory_open = laconic_test::opened;

}  // namespace laconic::detail::on_device
