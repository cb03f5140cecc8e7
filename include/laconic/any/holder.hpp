// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "laconic/core/description.hpp"
#include "laconic/wire/state.hpp"

/// How values of types that are chosen at run time stand behind one type. A face is an abstract class with the members
/// that a concept asks for. A model is a template, written once, that passes each of them on to what a holder holds:
/// the value itself, which makes it a face; or, by a pointer, a face, which makes it the class that users have, such as
/// any_step<T, B>. The pointer decides what a copy of that class has: the same value, a copy of it, or none is made.
namespace laconic::detail {

/// The base of all faces, and of those whose values have a state. The text of a face is that of the value, and two are
/// equal iff their texts are.
struct face {
    virtual ~face() = default;
    virtual std::string name() const = 0;
    // Nothing converts to a face, so that no other value is tried for conversion to an any_... here, which would
    // evaluate the constraints of its constructor for that value.
    friend std::string to_string(face const& f) { return f.name(); }
    friend bool operator==(face const& a, face const& b) { return a.name() == b.name(); }
};
struct face_with_state : face {
    virtual void state(wire::state_writer& archive) = 0;
    virtual void state(wire::state_reader& archive) = 0;
};

/// The text of a value, also of a described one in a namespace of its user's, where described() does not find it.
std::string text_of_held(auto const& value) {
    if constexpr (requires { to_string(value); })
        return to_string(value);
    else
        return described(value);
}

/// The base of all models: of the one for a value, Holder is held_value<V>, of a user's class one of the pointers
/// below.
template <class Face, class Holder>
class model : public Face {
  public:
    explicit model(Holder held) : inside(std::move(held)) {}
    std::string name() const override { return text_of_held(*inside); }

  protected:
    Holder inside;
};
template <std::derived_from<face_with_state> Face, class Holder>
class model<Face, Holder> : public Face {
  public:
    explicit model(Holder held) : inside(std::move(held)) {}
    std::string name() const override { return text_of_held(*inside); }
    void state(wire::state_writer& archive) override { archive(*inside); }
    void state(wire::state_reader& archive) override { archive(*inside); }

  protected:
    Holder inside;
};

/// The value itself. (No std::optional, whose constructors try every type for conversion to V.)
template <class V>
class held_value {
  public:
    held_value(V v) : value_(std::move(v)) {}  // NOLINT: implicit, like those of the pointers
    V& operator*() { return value_; }
    V const& operator*() const { return value_; }
    V* operator->() { return &value_; }
    V const* operator->() const { return &value_; }

  private:
    V value_;
};

/// Nothing is copied.
template <class Face>
using owned = std::unique_ptr<Face>;

/// Copies share the value, which never changes.
template <class Face>
struct shared : std::shared_ptr<Face const> {
    shared(Face const* model)  // NOLINT: implicit
        : std::shared_ptr<Face const>(model) {}
};

/// Each copy has a value of its own.
template <class Face>
class copied {
  public:
    template <std::derived_from<Face> Model>
    copied(Model* m)  // NOLINT: implicit, like that of shared
        : held_(m), copy_([](Face const& f) -> Face* { return new Model(static_cast<Model const&>(f)); }) {}
    copied(copied const& other) : held_(other.copy_(*other)), copy_(other.copy_) {}
    copied(copied&&) noexcept = default;
    copied& operator=(copied other) noexcept {
        held_ = std::move(other.held_), copy_ = other.copy_;
        return *this;
    }
    ~copied() = default;
    Face& operator*() { return *held_; }
    Face const& operator*() const { return *held_; }
    Face* operator->() { return held_.get(); }
    Face const* operator->() const { return held_.get(); }

  private:
    std::unique_ptr<Face> held_;
    Face* (*copy_)(Face const&);
};

/// What a holder holds.
template <class Holder>
using held_by = std::remove_cvref_t<decltype(*std::declval<Holder const&>())>;

/// A new model for a value, for one of the pointers, which owns it; `Other` are the template's other arguments. (A
/// std::unique_ptr to each model would be a dozen functions more for each.)
template <template <class...> class Model, class... Other, class V>
auto* modelled(V v) {
    return new Model<held_value<V>, Other...>(std::move(v));
}

}  // namespace laconic::detail
