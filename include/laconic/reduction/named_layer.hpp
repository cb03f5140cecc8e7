// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "laconic/collective/agreement.hpp"
#include "laconic/core/key.hpp"
#include "laconic/core/text.hpp"
#include "laconic/reduction/options.hpp"

namespace laconic::detail {

/// What a layer is called in errors, and the key from which it draws.
class named_layer {
  public:
    explicit named_layer(layer is) : is_(std::move(is)) {}

    std::string const& name() const { return is_.name; }
    std::size_t size() const { return is_.size; }
    [[gnu::cold, gnu::noinline]] std::string title() const {
        return is_.name.empty() ? "the vector" : concat({"layer ", is_.name});
    }
    [[gnu::cold, gnu::noinline]] std::string was_not_started() const { return concat({title(), " was not started"}); }
    /// What is wrong about it, after its title if it has a name.
    [[gnu::cold, gnu::noinline]] std::string with_title(std::string const& wrong) const {
        return is_.name.empty() ? wrong : concat({title(), ": ", wrong});
    }
    /// Sets the key from which all layers of the reducer draw, before the first step.
    void draw_from(key seed) {
        // By the name, not the index: a later run may list the layers in another order.
        seed_ = is_.name.empty() ? seed : seed.child(fingerprint(std::as_bytes(std::span(is_.name))));
    }

  protected:
    layer is_;
    key seed_;  // of this layer
};

}  // namespace laconic::detail
