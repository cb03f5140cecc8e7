// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "laconic/core/text.hpp"
#include "laconic/wire/state.hpp"

namespace laconic::detail {

/// What the faces of a recursion's parts have in common: a name, a state, and copies that share nothing.
template <class Face>
struct part_face {
    virtual ~part_face() = default;
    virtual std::unique_ptr<Face> copy() const = 0;
    virtual std::string name() const = 0;
    virtual void state(state_writer& archive) = 0;
    virtual void state(state_reader& archive) = 0;
};

/// The half of a model that every part has; Model is the class derived from it.
template <class Model, class Face, class Part>
struct part_model : Face {
    Part inside;

    explicit part_model(Part p) : inside(std::move(p)) {}
    std::unique_ptr<Face> copy() const override { return std::make_unique<Model>(static_cast<Model const&>(*this)); }
    std::string name() const override { return described(inside); }
    void state(state_writer& archive) override { archive(inside); }
    void state(state_reader& archive) override { archive(inside); }
};

/// Owns a face and copies it.
template <class Face>
class held_part {
  public:
    explicit held_part(std::unique_ptr<Face> p) : face_(std::move(p)) {}
    held_part(held_part const& other) : face_(other.face_->copy()) {}
    held_part(held_part&&) noexcept = default;
    held_part& operator=(held_part other) noexcept {
        face_ = std::move(other.face_);
        return *this;
    }
    ~held_part() = default;
    Face* operator->() const { return face_.get(); }

  private:
    std::unique_ptr<Face> face_;
};

}  // namespace laconic::detail
