// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nccl.h>

#include <cstddef>
#include <string>

/// What tests ask of the stand-in for NCCL and for the part of CUDA's runtime that comm/nccl.hpp uses (nccl.cpp beside
/// this is linked in their place). The device's memory is the host's, ranks are threads of one process, and a stream is
/// a thread that does one thing after another. In the stream nullptr everything is done when the call returns, as
/// Thrust's CPP system has it. What NCCL leaves undefined ends the program with a word about it: ranks whose
/// collectives differ, lengths that do not agree, a use after destruction, a wait of 20 seconds for what nobody sends.
namespace stand_in {

/// From now on the `nth` call (0: the next) of this name on this rank returns `status` and does nothing.
void refuse(std::string const& call, int rank, int nth, ncclResult_t status);
/// The same for CUDA's calls, on any rank.
void refuse(std::string const& call, int nth, cudaError_t status);
/// From now on ncclCommGetAsyncError returns this to rank `rank`, of all communicators.
void later_error(int rank, ncclResult_t status);
/// Takes all of that back.
void behave();

/// How many pieces of memory, of the device and of page-locked memory, were allocated, and how many are there.
std::size_t allocations();
std::size_t pieces();
/// How many communicators there are, and how many have been aborted so far.
std::size_t communicators();
std::size_t aborted();
/// How often a stream was queried, or waited for, so far.
std::size_t waits();

}  // namespace stand_in
