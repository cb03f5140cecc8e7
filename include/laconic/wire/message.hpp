// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "laconic/wire/blocks_kind.hpp"
#include "laconic/wire/bucketed_kinds.hpp"
#include "laconic/wire/plain_kinds.hpp"
#include "laconic/wire/sparse.hpp"
#include "laconic/wire/wrapper_kinds.hpp"

/// The encoding of each message; docs/wire-format.md specifies it to the bit. Every message m has
///   write(sink, m)         writes all that a receiver which runs the same composition does not have: the bare form;
///   read(on, source, m, c) fills in m, which the same compressor c has made blank for the same dimension and key, and
///                          throws wire_error at the first bit that cannot be right; without c where m has no other
///                          message inside;
///   write_shape(sink, m)   writes the rest, for the self-describing form; see wire/described.hpp;
///   bits_as_paper(m)       is what papers count: a formula, beside the bits that are written.
namespace laconic::wire {

/// All kinds of messages that the library has, as wire/shape.hpp describes them: a reader knows these, and no others.
using library_kinds =
    kind_list<plain_kind, quantized_kind, powers_kind, signs_kind, dithered_kind, means_kind,
              short_kind<kernels::short_format::binary16>, short_kind<kernels::short_format::bfloat>,
              short_kind<kernels::short_format::e4m3>, short_kind<kernels::short_format::e5m2>, stepped_kind,
              binned_kind, blocks_kind, sparse_kind<messages::support_is::listed>,
              sparse_kind<messages::support_is::fixed_count>, sparse_kind<messages::support_is::from_seed>,
              low_rank_kind, scaled_kind, parts_kind, levelled_kind>;

/// The bits of the bare form of a message, by what they are spent on.
ledger account(auto const& m, position_code how = position_code::smallest) {
    ledger books(how);
    write(books, m);
    return books;
}

/// The size of the bare form in bits, 8 times its bytes. write() itself counts it, on a sink that only adds widths.
std::uint64_t bits(auto const& m, position_code how = position_code::smallest) { return account(m, how).bits(); }

}  // namespace laconic::wire

namespace laconic::messages {

using wire::account, wire::bits;  // as the functions of the messages here

}  // namespace laconic::messages
