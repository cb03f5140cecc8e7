// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "laconic/compress/full.hpp"
#include "laconic/wire/message.hpp"

/// Compressors that are chosen while the program runs: the same values behind one type. It costs a virtual call a
/// message; the bytes are those of the compressor inside.
namespace laconic {

/// The message of an any_compressor: some message, or none yet.
template <Scalar T, class B>
class any_message {
  public:
    using value_type = T;

    std::size_t dimension() const { return held_ ? held_->dimension() : 0; }

    /// The message inside if it is an M, otherwise a new M in its place.
    template <class M>
    M& as() {
        if (auto* const same = dynamic_cast<model<M>*>(held_.get())) return same->message;
        auto* const fresh = new model<M>();
        held_.reset(fresh);
        return fresh->message;
    }

    /// The message inside, which is an M.
    template <class M>
    M const& get() const {
        return static_cast<model<M> const&>(*held_).message;
    }

    friend void add_message(B& on, std::span<T> out, T w, any_message const& m) {
        if (m.held_) m.held_->add_to(on, out, w);
    }
    template <BitSink W>
    friend void write(W& sink, any_message const& m) {
        if (m.held_) m.held_->write_to(sink);
    }
    template <BitSink W>
    friend void write_shape(W& sink, any_message const& m) {
        if (m.held_) m.held_->shape_to(sink);
    }
    friend double bits_as_paper(any_message const& m) { return m.held_ ? m.held_->as_paper() : 0; }
    template <BitSource R>
    friend void read(B& on, R& source, any_message& m) {
        if (m.held_) m.held_->read_from(on, source);
    }
    friend bool operator==(any_message const& a, any_message const& b) {
        return a.held_ && b.held_ ? a.held_->equals(*b.held_) : !a.held_ && !b.held_;
    }

  private:
    struct face {
        virtual ~face() = default;
        virtual std::size_t dimension() const = 0;
        virtual void add_to(B& on, std::span<T> out, T w) const = 0;
        virtual void write_to(bit_writer& sink) const = 0;
        virtual void write_to(ledger& sink) const = 0;
        virtual void shape_to(bit_writer& sink) const = 0;
        virtual void shape_to(ledger& sink) const = 0;
        virtual double as_paper() const = 0;
        virtual void read_from(B& on, bit_reader& source) = 0;
        virtual bool equals(face const& other) const = 0;
    };
    template <class M>
    struct model final : face {
        M message;
        std::size_t dimension() const override { return message.dimension(); }
        void add_to(B& on, std::span<T> out, T w) const override { add_message(on, out, w, message); }
        void write_to(bit_writer& sink) const override { write(sink, message); }
        void write_to(ledger& sink) const override { write(sink, message); }
        void shape_to(bit_writer& sink) const override { write_shape(sink, message); }
        void shape_to(ledger& sink) const override { write_shape(sink, message); }
        double as_paper() const override { return bits_as_paper(message); }
        void read_from(B& on, bit_reader& source) override { read(on, source, message); }
        bool equals(face const& other) const override {
            auto const* const same = dynamic_cast<model const*>(&other);
            return same && same->message == message;
        }
    };
    std::unique_ptr<face> held_;
};

namespace detail {

[[noreturn]] inline void has_no_omega(std::string const& name) {
    throw theory_error(name + " is biased: it has no omega");
}
[[noreturn]] inline void has_no_delta(std::string const& name) {
    throw theory_error(name + " is not known to be contractive: it has no delta");
}

}  // namespace detail

/// Any compressor of vectors of T. Constants that the compressor inside does not have throw theory_error, which names
/// it. Two are equal iff they are written alike. Default: full.
template <Scalar T = double, class B = host>
class any_compressor {
  public:
    template <Scalar S, class On>
    using message = any_message<S, On>;

    any_compressor() : any_compressor(full{}) {}
    template <class C>
    requires(!std::same_as<C, any_compressor> && Compressor<C, T, B>)
        any_compressor(C compressor)  // NOLINT: implicit, as std::function's
        : held_(static_cast<face const*>(new model<C>(std::move(compressor)))) {}  // one shared_ptr for all C

    void check(std::size_t d) const { held_->check(d); }
    void blank(B& on, std::size_t d, key from, any_message<T, B>& m) const { held_->blank(on, d, from, m); }
    void operator()(B& on, std::span<T const> x, key from, any_message<T, B>& m) const {
        held_->compress(on, x, from, m);
    }

    /// Whether the compressor inside is of a kind that has the constant.
    bool unbiased() const { return held_->unbiased(); }
    bool contractive() const { return held_->contractive(); }
    double omega(std::size_t d) const { return held_->omega(d); }
    double delta(std::size_t d) const { return held_->delta(d); }

    /// The compressor inside, which is a C and is from now on this value's alone: for a level that tunes it.
    template <class C>
    C& own() {
        if (!owned_.value) {
            held_ = std::make_shared<model<C> const>(static_cast<model<C> const&>(*held_).inside);
            owned_.value = true;
        }
        return const_cast<model<C>&>(static_cast<model<C> const&>(*held_)).inside;
    }

    // Templates, so that no other type is tried for conversion here, which would ask the constructor's constraint of
    // it.
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
        bool unbiased() const override {
            if constexpr (requires { inside.rest.unbiased(); })
                return Unbiased<C> && inside.rest.unbiased();
            else
                return Unbiased<C>;
        }
        bool contractive() const override {
            if constexpr (requires { inside.inside.unbiased(); })  // scaled down
                return inside.inside.unbiased();
            else if constexpr (requires { inside.rest.contractive(); })
                return Contractive<C> && (inside.rest.contractive() || (inside.rest.unbiased() && !Unbiased<C>));
            else
                return Contractive<C>;
        }
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
    // Shared by copies until one is tuned; a copy owns nothing.
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

static_assert(Compressor<any_compressor<>> && Compressor<any_compressor<float>, float>);

}  // namespace laconic
