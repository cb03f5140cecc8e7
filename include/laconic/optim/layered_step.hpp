// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "laconic/optim/step.hpp"

namespace laconic {

/// Layers that follow one another in x, each with a step of its own, of one of the types S, such as Muon for matrices
/// and AdamW for the rest:
///
///     layered_step<muon<float>, adam<float>> step({{768 * 64, muon<float>({.rows = 768})}, {768, adam<float>(3e-4)}});
///
/// A layer is {its number of elements, its step}.
template <class... S>
class layered_step {
  public:
    struct layer {
        std::size_t size;
        std::variant<S...> step;
    };

    /// Throws argument_error where a layer is no matrix of as many rows as its step has.
    explicit layered_step(std::vector<layer> layers) : layers_(std::move(layers)) {
        for (layer const& l : layers_)
            std::visit(
                [&](auto const& step) {
                    if constexpr (requires { step.check(l.size); }) step.check(l.size);
                },
                l.step);
    }

    /// Throws shape_error unless n is the number of elements of all layers; so does a step.
    void check(std::size_t n) const {
        if (n != size()) throw shape_error({"layered_step: the layers have ", size(), " elements, and x has ", n});
    }
    template <class B, Scalar T>
    void operator()(B& on, std::span<T> x, std::span<T> d) {
        check(x.size());
        std::size_t first = 0;
        for (layer& l : layers_) {
            std::visit([&](auto& step) { step(on, x.subspan(first, l.size), d.subspan(first, l.size)); }, l.step);
            first += l.size;
        }
    }

    /// The number of elements of all layers.
    std::size_t size() const {
        std::size_t all = 0;
        for (layer const& l : layers_) all += l.size;
        return all;
    }
    std::vector<layer> const& layers() const { return layers_; }
    void state(auto& archive) {
        for (layer& l : layers_) {
            archive.of_dimension(l.size);
            std::visit([&](auto& step) { archive(step); }, l.step);
        }
        archive.of_dimension(size());
    }
    friend std::string to_string(layered_step const& s) {
        std::string text = "layered_step(";
        for (layer const& l : s.layers_) {
            if (text.back() != '(') text += ", ";
            text +=
                detail::concat({l.size, ": ", std::visit([](auto const& step) { return to_string(step); }, l.step)});
        }
        return text + ")";
    }

  private:
    std::vector<layer> layers_;
};

}  // namespace laconic
