// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "laconic/any/holder.hpp"
#include "laconic/message/message.hpp"
#include "laconic/message/term_list.hpp"
#include "laconic/wire/message.hpp"

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
        if (!holds<M>()) held_.reset(new model<M>(M{}));
        return static_cast<model<M>&>(*held_).message();
    }

    /// Whether the message inside is an M.
    template <class M>
    bool holds() const {
        return held_ && held_->kind() == &kind_of<M>;
    }
    /// The message inside, which must be an M.
    template <class M>
    M const& get() const {
        LACONIC_EXPECTS(holds<M>());
        return static_cast<model<M>&>(*held_).message();
    }

    friend void add_message(B& on, std::span<T> out, T w, any_message const& m) {
        if (m.held_) m.held_->add_to(on, out, w);
    }
    void add_unturned(B& on, std::span<T> out, T w) const {
        if (held_) held_->add_unturned(on, out, w);
    }
    void turn_back(B& on, std::span<T> y) const {
        if (held_) held_->turn_back(on, y);
    }
    bool clear_sent(B& on, std::span<T> x, std::span<T> room) const { return held_ && held_->clear_sent(on, x, room); }
    friend bool append_terms(B& on, detail::term_list<T>& list, any_message const& m) {
        return m.held_ && m.held_->append_to(on, list);
    }
    template <wire::BitSink W>
    friend void write(W& sink, any_message const& m) requires OnHost<B> {
        if (m.held_) m.held_->encode(&sink, false);
    }
    template <wire::BitSink W>
    friend void write_shape(W& sink, any_message const& m) requires OnHost<B> {
        if (m.held_) m.held_->encode(&sink, true);
    }
    friend double bits_as_paper(any_message const& m) requires OnHost<B> { return m.held_ ? m.held_->as_paper() : 0; }
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

    struct sink_pointer {  // one of the two (a std::variant is visited by half a dozen functions for each message)
        wire::bit_writer* writer = nullptr;
        wire::ledger* counter = nullptr;
        sink_pointer(wire::bit_writer* w) : writer(w) {}  // NOLINT: implicit
        sink_pointer(wire::ledger* c) : counter(c) {}     // NOLINT: implicit
    };
    struct face : detail::face {
        virtual void const* kind() const = 0;
        virtual std::size_t dimension() const = 0;
        virtual void add_to(B& on, std::span<T> out, T w) const = 0;
        virtual void add_unturned(B& on, std::span<T> out, T w) const = 0;
        virtual void turn_back(B& on, std::span<T> y) const = 0;
        virtual bool clear_sent(B& on, std::span<T> x, std::span<T> room) const = 0;
        virtual bool append_to(B& on, detail::term_list<T>& list) const = 0;
        virtual void encode(sink_pointer to, bool shape) const = 0;
        virtual double as_paper() const = 0;
        virtual bool equals(face const& other) const = 0;
        virtual void copy_to(B& on, host& to_on, any_message<T, host>& to) const = 0;
        virtual void copy_from(host& from_on, any_message<T, host> const& from, B& on) = 0;
    };
    // Messages on the host are encoded here, others are copied there first.
    template <class M>
    struct model final : detail::model<face, detail::held_value<M>> {
        using detail::model<face, detail::held_value<M>>::model;
        M& message() { return *this->inside; }
        M const& message() const { return *this->inside; }
        void const* kind() const override { return &kind_of<M>; }
        std::size_t dimension() const override { return message().dimension(); }
        void add_to(B& on, std::span<T> out, T w) const override { add_message(on, out, w, message()); }
        void add_unturned(B& on, std::span<T> out, T w) const override {
            messages::add_unturned(on, out, w, message());
        }
        void turn_back(B& on, std::span<T> y) const override { messages::turn_back(on, y, message()); }
        bool clear_sent([[maybe_unused]] B& on, [[maybe_unused]] std::span<T> x,
                        [[maybe_unused]] std::span<T> room) const override {
            if constexpr (requires { message().clear_sent(on, x, room); }) return message().clear_sent(on, x, room);
            return false;
        }
        bool append_to([[maybe_unused]] B& on, [[maybe_unused]] detail::term_list<T>& list) const override {
            if constexpr (OnHost<B> && detail::MayListTerms<M, T, B>) return append_terms(on, list, message());
            return false;
        }
        void encode(sink_pointer to, bool shape) const override {
            if constexpr (OnHost<B>) to.writer ? encode_to(*to.writer, shape) : encode_to(*to.counter, shape);
        }
        void encode_to(auto& sink, bool shape) const {
            if (!shape) return write(sink, message());
            if constexpr (requires { write_shape(sink, message()); })
                write_shape(sink, message());
            else
                throw argument_error("this message has no self-describing form: it has no user_kind");
        }
        double as_paper() const override {
            using wire::bits_as_paper;
            if constexpr (OnHost<B>) return bits_as_paper(message());
            return 0;
        }
        bool equals(face const& other) const override {
            return other.kind() == kind() && static_cast<model const&>(other).message() == message();
        }
        void copy_to(B& on, host& to_on, any_message<T, host>& to) const override {
            if constexpr (!OnHost<B>) copy_message(on, message(), to_on, to.template as<messages::moved_to<host, M>>());
        }
        void copy_from(host& from_on, any_message<T, host> const& from, B& on) override {
            if constexpr (!OnHost<B>)
                copy_message(from_on, from.template get<messages::moved_to<host, M>>(), on, message());
        }
    };
    detail::owned<face> held_;
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

}  // namespace laconic
