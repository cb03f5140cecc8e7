// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/wire/state.hpp"

/// Makes `to` what `from` is, by way of the bytes of its state.
template <class P>
void restore_from(P const& from, P& to) {
    auto copy = from;
    laconic::state_writer writer("a part");
    writer(copy);
    auto const bytes = writer.finish();
    laconic::state_reader reader(bytes, "a part");
    reader(to);
    reader.rewind();
    reader(to);
}
