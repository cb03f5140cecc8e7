// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "laconic/backend/array.hpp"
#include "laconic/compress/identity.hpp"
#include "laconic/core/text.hpp"
#include "laconic/message/copy_message.hpp"
#include "laconic/wire/message.hpp"

/// Compressors that are chosen at run time: the same values behind one type. They cost a virtual call a message; the
/// bytes are those of the compressor inside.
namespace laconic {

/// The message of an any_compressor: a message of any type, or none yet.
template <Scalar T, class B>
class any_message {
  public:
    using value_type = T;
    template <class Other>
    using for_backend = any_message<T, Other>;

    std::size_t dimension() const { return held_ ? held_->dimension() : 0; }

    /// The message inside if it is an M, otherwise a new M in its place.
    template <class M>
    M& as() {
        if (holds<M>()) return static_cast<model<M>&>(*held_).message;
        auto* const fresh = new model<M>();
        held_.reset(fresh);
        return fresh->message;
    }

    /// Whether the message inside is an M.
    template <class M>
    bool holds() const {
        return held_ && held_->kind() == &kind_of<M>;
    }
    /// The message inside, which must be an M.
    template <class M>
    M const& get() const {
        return static_cast<model<M> const&>(*held_).message;
    }

    friend void add_message(B& on, std::span<T> out, T w, any_message const& m) {
        if (m.held_) m.held_->add_to(on, out, w);
    }
    template <BitSink W>
    friend void write(W& sink, any_message const& m) requires OnHost<B> {
        if (m.held_) m.held_->write_to(sink);
    }
    template <BitSink W>
    friend void write_shape(W& sink, any_message const& m) requires OnHost<B> {
        if (m.held_) m.held_->shape_to(sink);
    }
    friend double bits_as_paper(any_message const& m) requires OnHost<B> { return m.held_ ? m.held_->as_paper() : 0; }
    template <BitSource R>
    friend void read(B& on, R& source, any_message& m) requires OnHost<B> {
        if (m.held_) m.held_->read_from(on, source);
    }
    friend bool operator==(any_message const& a, any_message const& b) {
        return a.held_ && b.held_ ? a.held_->equals(*b.held_) : !a.held_ && !b.held_;
    }

    /// Parts of copy_message: copies the message inside to the host, and from there; a compressor must have made it
    /// blank.
    void copy_to(B& on, host& to_on, any_message<T, host>& to) const requires(!OnHost<B>) {
        if (held_)
            held_->copy_to(on, to_on, to);
        else
            to = {};
    }
    void copy_from(host& from_on, any_message<T, host> const& from, B& on) requires(!OnHost<B>) {
        if (held_) held_->copy_from(from_on, from, on);
    }

  private:
    // Its address identifies the type of the message inside, also with -fno-rtti. Not const, so that no linker merges
    // two.
    template <class M>
    static inline char kind_of = 0;

    struct face {
        virtual ~face() = default;
        virtual void const* kind() const = 0;
        virtual std::size_t dimension() const = 0;
        virtual void add_to(B& on, std::span<T> out, T w) const = 0;
        virtual void write_to(bit_writer& sink) const = 0;
        virtual void write_to(ledger& sink) const = 0;
        virtual void shape_to(bit_writer& sink) const = 0;
        virtual void shape_to(ledger& sink) const = 0;
        virtual double as_paper() const = 0;
        virtual void read_from(B& on, bit_reader& source) = 0;
        virtual bool equals(face const& other) const = 0;
        virtual void copy_to(B& on, host& to_on, any_message<T, host>& to) const = 0;
        virtual void copy_from(host& from_on, any_message<T, host> const& from, B& on) = 0;
    };
    // Messages on the host are encoded here, others are copied there first.
    template <class M>
    struct model final : face {
        M message;
        void const* kind() const override { return &kind_of<M>; }
        std::size_t dimension() const override { return message.dimension(); }
        void add_to(B& on, std::span<T> out, T w) const override { add_message(on, out, w, message); }
        void write_to([[maybe_unused]] bit_writer& sink) const override {
            if constexpr (OnHost<B>) write(sink, message);
        }
        void write_to([[maybe_unused]] ledger& sink) const override {
            if constexpr (OnHost<B>) write(sink, message);
        }
        void shape_to(bit_writer& sink) const override { write_shape_to(sink); }
        void shape_to(ledger& sink) const override { write_shape_to(sink); }
        void write_shape_to([[maybe_unused]] auto& sink) const {
            if constexpr (OnHost<B>) {
                if constexpr (requires { write_shape(sink, message); })
                    write_shape(sink, message);
                else
                    throw argument_error("this message has no self-describing form: it has no user_kind");
            }
        }
        double as_paper() const override {
            if constexpr (OnHost<B>)
                return bits_as_paper(message);
            else
                return 0;
        }
        void read_from([[maybe_unused]] B& on, [[maybe_unused]] bit_reader& source) override {
            if constexpr (OnHost<B>) read(on, source, message);
        }
        bool equals(face const& other) const override {
            return other.kind() == &kind_of<M> && static_cast<model const&>(other).message == message;
        }
        void copy_to([[maybe_unused]] B& on, [[maybe_unused]] host& to_on,
                     [[maybe_unused]] any_message<T, host>& to) const override {
            if constexpr (!OnHost<B>) copy_message(on, message, to_on, to.template as<moved_to<host, M>>());
        }
        void copy_from([[maybe_unused]] host& from_on, [[maybe_unused]] any_message<T, host> const& from,
                       [[maybe_unused]] B& on) override {
            if constexpr (!OnHost<B>) copy_message(from_on, from.template get<moved_to<host, M>>(), on, message);
        }
    };
    std::unique_ptr<face> held_;
};

template <Scalar T, class B>
requires(!OnHost<B>) void copy_message(B& from_on, any_message<T, B> const& from, host& to_on,
                                       any_message<T, host>& to) {
    from.copy_to(from_on, to_on, to);
}
template <Scalar T, class B>
requires(!OnHost<B>) void copy_message(host& from_on, any_message<T, host> const& from, B& to_on,
                                       any_message<T, B>& to) {
    to.copy_from(from_on, from, to_on);
}

namespace detail {

[[noreturn]] inline void has_no_omega(std::string const& name) {
    throw theory_error(concat({name, " is biased: it has no omega"}));
}
[[noreturn]] inline void has_no_delta(std::string const& name) {
    throw theory_error(concat({name, " is not known to be contractive: it has no delta"}));
}

}  // namespace detail

/// Any compressor of vectors of T. A constant that the compressor inside does not have throws theory_error, which names
/// the compressor. Two are equal iff their texts are. Default: identity.
template <Scalar T = double, class B = host>
class any_compressor {
  public:
    template <Scalar S, class On>
    using message = any_message<S, On>;
    template <class Other>
    using for_backend = any_compressor<T, Other>;

    any_compressor() : any_compressor(identity{}) {}
    template <class C>
    requires(!std::same_as<C, any_compressor> && Compressor<C, T, B>)
        any_compressor(C compressor)  // NOLINT: implicit, like that of std::function
        : held_(static_cast<face const*>(new model<C>(std::move(compressor)))) {}  // one shared_ptr for all C

    void check(std::size_t d) const { held_->check(d); }
    void blank(B& on, std::size_t d, key from, any_message<T, B>& m) const { held_->blank(on, d, from, m); }
    void operator()(B& on, std::span<T const> x, key from, any_message<T, B>& m) const {
        held_->compress(on, x, from, m);
    }

    /// Whether the compressor inside has the constant.
    bool unbiased() const { return held_->unbiased(); }
    bool contractive() const { return held_->contractive(); }
    double omega(std::size_t d) const { return held_->omega(d); }
    double delta(std::size_t d) const { return held_->delta(d); }

    /// The compressor inside, which must be a C; from then on this value alone owns it: for a level that tunes it.
    template <class C>
    C& own() {
        if (!owned_.value) {
            held_ = std::make_shared<model<C> const>(static_cast<model<C> const&>(*held_).inside);
            owned_.value = true;
        }
        return const_cast<model<C>&>(static_cast<model<C> const&>(*held_)).inside;
    }

    // Templates, so that no other type is tried for conversion here, which would evaluate the constructor's constraint
    // for it.
    template <std::same_as<any_compressor> Self>
    friend bool operator==(Self const& a, Self const& b) {
        return a.held_->name() == b.held_->name();
    }
    template <std::same_as<any_compressor> Self>
    friend std::string to_string(Self const& c) {
        return c.held_->name();
    }

  private:
    struct face {
        virtual ~face() = default;
        virtual void check(std::size_t d) const = 0;
        virtual void blank(B& on, std::size_t d, key from, any_message<T, B>& m) const = 0;
        virtual void compress(B& on, std::span<T const> x, key from, any_message<T, B>& m) const = 0;
        virtual bool unbiased() const = 0;
        virtual bool contractive() const = 0;
        virtual double omega(std::size_t d) const = 0;
        virtual double delta(std::size_t d) const = 0;
        virtual std::string name() const = 0;
    };
    template <class C>
    struct model final : face {
        using message = message_of<C, T, B>;
        C inside;

        explicit model(C c) : inside(std::move(c)) {}
        void check(std::size_t d) const override { inside.check(d); }
        void blank(B& on, std::size_t d, key from, any_message<T, B>& m) const override {
            inside.blank(on, d, from, m.template as<message>());
        }
        void compress(B& on, std::span<T const> x, key from, any_message<T, B>& m) const override {
            inside(on, x, from, m.template as<message>());
        }
        bool unbiased() const override { return is_unbiased(inside); }
        bool contractive() const override { return is_contractive(inside); }
        double omega(std::size_t d) const override {
            if constexpr (Unbiased<C>)
                if (unbiased()) return inside.omega(d);
            detail::has_no_omega(name());
        }
        double delta(std::size_t d) const override {
            if constexpr (Contractive<C>)
                if (contractive()) return inside.delta(d);
            detail::has_no_delta(name());
        }
        std::string name() const override { return to_string(inside); }
    };
    // Copies share the compressor until one is tuned; a copy owns nothing.
    struct mine {
        bool value = false;
        mine() = default;
        mine(mine const&) {}
        mine& operator=(mine const&) {
            value = false;
            return *this;
        }
    };
    std::shared_ptr<face const> held_;
    mine owned_;
};

}  // namespace laconic
