#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""faces.py <include folder> <face>[+<header>...] [names=N headers=N lines=N]...

Counts what a face, a header such as laconic.hpp, shows and costs: the public names that it declares, itself or through
what it includes (those of namespace laconic, of no namespace inside it; operators are none), and the headers of the
library and their lines that it reaches. Prints them, the names by header, and fails where one exceeds its limit. More
headers may stand behind a +, as laconic.hpp+comm/mpi.hpp.

It reads the headers as text, and so needs no compiler; what stands under an #if is not followed, as processors differ in it.
"""
import pathlib
import re
import sys

TOKEN = re.compile(r'[A-Za-z_]\w*|::|->|\[\[|\]\]|>>|<=|>=|==|!=|&&|\|\||<<|[0-9][\w.\']*|\S')
OPEN, CLOSE = '([{', ')]}'


def plain(text):
    """The text without comments, preprocessor lines and the insides of literals."""
    text = re.sub(r'\\\n', ' ', text)
    literals = r'//[^\n]*|/\*.*?\*/|R"\((?:.*?)\)"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Za-z_])\'(?:\\.|[^\'\\\n])+\''
    text = re.sub(literals, lambda m: ' ' if m[0][0] == '/' else '""', text, flags=re.S)
    return re.sub(r'^[ \t]*#[^\n]*', '', text, flags=re.M)


def after_group(tokens, i):
    """The place behind the bracket that closes the one at i."""
    depth = 0
    while i < len(tokens):
        if tokens[i] in OPEN:
            depth += 1
        elif tokens[i] in CLOSE:
            depth -= 1
            if depth == 0:
                return i + 1
        i += 1
    return i


def after_angles(tokens, i):
    """The place behind the > that closes the < at i."""
    depth = 0
    while i < len(tokens):
        t = tokens[i]
        if t in OPEN:
            i = after_group(tokens, i)
            continue
        if t == '<':
            depth += 1
        elif t in ('>', '>>'):
            depth -= len(t)
            if depth <= 0:
                return i + 1
        i += 1
    return i


def is_name(t):
    return re.fullmatch(r'[A-Za-z_]\w*', t) is not None


TYPES = ('class', 'struct', 'union', 'enum')


def after_constraint(tokens, i):
    """The place behind the constraint that follows a `requires` at i - 1."""
    while True:
        while tokens[i] == '!':
            i += 1
        if tokens[i] == 'requires':
            i += 1
            if tokens[i] == '(':
                i = after_group(tokens, i)
            i = after_group(tokens, i)
        elif tokens[i] == '(':
            i = after_group(tokens, i)
        else:
            while is_name(tokens[i]) or tokens[i] == '::':
                i += 1
                if tokens[i] == '<':
                    i = after_angles(tokens, i)
                if tokens[i] == '(':  # a call
                    i = after_group(tokens, i)
                if is_name(tokens[i]):
                    break
        if tokens[i] not in ('&&', '||'):
            return i
        i += 1


def declaration(tokens, i):
    """The names that the declaration at i declares in its namespace, and the place behind it."""
    head = []  # without template parameters and arguments, constraints, attributes, and what is in brackets
    while i < len(tokens) and tokens[i] != ';':
        t = tokens[i]
        if t == '[[':
            i = tokens.index(']]', i) + 1
        elif t == 'template' or t == '<' and head and is_name(head[-1]) and head[-1] != 'operator':
            i = after_angles(tokens, i + (t == 'template')) if tokens[i + (t == 'template')] == '<' else i + 1
        elif t == 'requires':
            i = after_constraint(tokens, i + 1)
        elif t in ('decltype', 'alignas', 'explicit') and tokens[i + 1] == '(':
            i = after_group(tokens, i + 1)
        elif t == '{':
            i = after_group(tokens, i)
            is_function = '(' in head and '=' not in head and not any(u in head[:head.index('(')] for u in TYPES)
            if is_function:
                break
            head.append(t)
        elif t in OPEN:
            head.append(t)
            i = after_group(tokens, i)
        else:
            head.append(t)
            i += 1
    i += i < len(tokens) and tokens[i] == ';'
    return names_in(head), i


def names_in(head):
    """A list of one name, of several where variables are declared together, or of none."""
    if head[:1] == ['using'] and '=' not in head and head[1] != 'namespace':
        return [name for name, after in zip(head, head[1:] + [',']) if after == ',']
    others = [name for comma, name, after in zip(head, head[1:], head[2:]) if comma == ',' and after in '={']
    return [name for name in (first_name_in(head), *others) if name]


def first_name_in(head):
    if not head or head[0] in ('static_assert', 'namespace') or 'operator' in head or head[:2] == ['using', 'namespace']:
        return None
    if head[0] == 'concept':
        return head[1]
    if head[0] == 'using':
        return head[head.index('=') - 1]
    before = head[:min((head.index(t) for t in '(={[' if t in head), default=len(head))]
    for j, t in enumerate(before):
        if t in TYPES:
            return next((u for u in before[j + 1:] if is_name(u) and u not in TYPES), None)
    if not before or not is_name(before[-1]) or before[-2:-1] == ['::']:
        return None
    return before[-1]


def public_names(text):
    """The names that a header declares in namespace laconic, and in none inside it."""
    tokens, names, scopes, i = TOKEN.findall(plain(text)), set(), [], 0
    while i < len(tokens):
        if tokens[i] == '}':
            scopes.pop()
            i += 1
        elif tokens[i] == 'namespace' and '{' in tokens[i:i + 12] and '=' not in tokens[i:tokens.index('{', i)]:
            begin = tokens.index('{', i)
            scopes.append([t for t in tokens[i + 1:begin] if t != '::'])
            i = begin + 1
        else:
            declared, i = declaration(tokens, i)
            if sum(scopes, []) == ['laconic']:
                names.update(declared)
    return names


SAMPLE = """
#include <other>  // a comment { of braces
namespace laconic {
struct forward;
template <class T, class U = std::vector<int>> requires(sizeof(T) > 2) class with_body { int inside; void member() {} };
template <> class with_body<int, float> {};
template <class X> concept Idea = requires(X& x) { { x.size() } -> std::same_as<int>; } && Other<X>;
template <Idea X> requires Idea<X> && (Other<X>) auto function(X const& x) -> std::vector<X> { struct in_it {}; return {x}; }
template <class X> inline constexpr bool variable = requires(X x) { x.y(); };
inline constexpr int first = 1, second = 2;
inline int braced{3};
using alias = std::map<int, with_body<int>>;
template <class C> with_body(C&) -> with_body<C>;
enum class kind : int { one, two };
[[nodiscard]] decltype(auto) with_attribute(char c = '{') { return R"(}})"; }
inline void with_body<int>::member() {}
bool operator<(forward a, forward b) { return false; }
namespace detail { struct hidden {}; int hidden_too() { return 1; } }
namespace short_name = other;
using other::taken, other::taken_too;
}
namespace laconic::detail { struct hidden {}; }
namespace other { struct elsewhere {}; }
void global();
"""
NAMES = {
    'forward', 'with_body', 'Idea', 'function', 'variable', 'first', 'second', 'braced', 'alias', 'kind', 'with_attribute', 'taken',
    'taken_too'
}


def reached(include, headers):
    """All headers of the library that these include, these among them, and their texts."""
    texts, left = {}, list(headers)
    while left:
        header = left.pop()
        if header in texts:
            continue
        texts[header] = (include / 'laconic' / header).read_text()
        depth = 0
        for line in texts[header].splitlines():
            if re.match(r'\s*#\s*if', line):
                depth += 1
            elif re.match(r'\s*#\s*endif', line):
                depth -= 1
            elif depth == 0 and (m := re.match(r'\s*#\s*include\s*["<]laconic/([^">]*)', line)):
                left.append(m[1])
    return texts


def main():
    assert public_names(SAMPLE) == NAMES, public_names(SAMPLE) ^ NAMES
    include, failed = pathlib.Path(sys.argv[1]), False
    faces, limits = [], {}
    for argument in sys.argv[2:]:
        if '=' in argument:
            what, most = argument.split('=')
            limits[faces[-1]][what] = int(most)
        else:
            faces.append(argument)
            limits[argument] = {}
    for face in faces:
        texts = reached(include, face.split('+'))
        by_header = {h: sorted(public_names(text)) for h, text in sorted(texts.items())}
        counts = {
            'names': len({name for names in by_header.values() for name in names}),
            'headers': len(texts),
            'lines': sum(text.count('\n') for text in texts.values()),
        }
        print(f'{face}: ' + ', '.join(f'{n} {what}' for what, n in counts.items()))
        for what, most in limits[face].items():
            if counts[what] > most:
                failed = True
                print(f'{face} has more than {most} {what}')
        for header, names in by_header.items():
            if names:
                print(f'  {header} ({len(names)}): {" ".join(names)}')
    sys.exit(failed)


if __name__ == '__main__':
    main()
