#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what this repository's presets need and the machine lacks, with apt-get, dnf or brew.
# Says nothing where nothing is missing. Needs root or sudo only where something is (brew needs neither).
set -eu

say() { printf '%s\n' "install-deps: $*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }

# Sets `root` to what makes a command run as root, or gives up.
need_root() {
    if [ "$(id -u)" = 0 ]; then
        root=
    elif have sudo; then
        root=sudo
    else
        say "missing:$missing"
        say "neither root nor sudo here, so nothing was installed"
        say "with git, make, a C++20 compiler and cmake 3.25, the presets fetch the headers that they lack by themselves"
        exit 1
    fi
    say "installing$missing"
}

# tool COMMAND PACKAGE: the package is missing unless the command is there, whoever installed it.
missing=
tool() { have "$1" || missing="$missing $2"; }

# without PACKAGE: takes it off the list, and says so.
without() {
    say "$1 is not in this machine's package sources: going on without it"
    missing=$(printf '%s' "$missing " | sed "s/ $1 / /; s/ *\$//")
}

if have apt-get; then
    libraries="libeigen3-dev libxsimd-dev doctest-dev libcli11-dev libfmt-dev nlohmann-json3-dev zlib1g-dev liblzma-dev
        libbz2-dev libopenmpi-dev openmpi-bin libthrust-dev libbenchmark-dev dataset-fashion-mnist python3-numpy
        python3-mpi4py python3-pip python3-setuptools python3-wheel"
    have c++ || have g++ || have clang++ || missing=" g++"
    # The standard library of clang++'s own, with which tests/builds/consumer.sh compiles, too.
    if have clang++; then
        clang=$(clang++ -dumpversion)
        libraries="$libraries libc++-${clang%%.*}-dev libc++abi-${clang%%.*}-dev"
    fi
    tool make make
    tool cmake cmake
    tool pkg-config pkgconf
    # git alone does not trust the hosts that cmake fetches from.
    tool git "git ca-certificates"
    tool gnuplot gnuplot-nox
    tool python3 python3
    # shellcheck disable=SC2086 # one word for each package
    installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' $libraries 2>/dev/null || true)
    for package in $libraries; do
        case "
$installed
" in
            *"
installed $package
"*) ;;
            *) missing="$missing $package" ;;
        esac
    done
    if [ -n "$missing" ]; then
        need_root
        $root env DEBIAN_FRONTEND=noninteractive apt-get -qq update
        for package in $missing; do
            apt-cache show --no-all-versions "$package" >/dev/null 2>&1 || without "$package"
        done
        # shellcheck disable=SC2086
        $root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install $missing
    fi
elif have dnf; then
    libraries="eigen3-devel xsimd-devel doctest-devel cli11-devel fmt-devel json-devel zlib-devel xz-devel bzip2-devel"
    have c++ || have g++ || have clang++ || missing=" gcc-c++"
    if have clang++; then libraries="$libraries libcxx-devel"; fi
    tool make make
    tool cmake cmake
    tool pkg-config pkgconf-pkg-config
    tool git git
    tool gnuplot gnuplot-minimal
    tool python3 python3
    for package in $libraries; do
        rpm -q --whatprovides "$package" >/dev/null 2>&1 || missing="$missing $package"
    done
    if [ -n "$missing" ]; then
        need_root
        for package in $missing; do
            dnf -q info "$package" >/dev/null 2>&1 || without "$package"
        done
        # shellcheck disable=SC2086
        $root dnf -q -y --setopt=install_weak_deps=False install $missing
        say "no package here holds Fashion-MNIST; give race its files, or run it on other data (race --help)"
    fi
elif have brew; then
    libraries="eigen xsimd doctest cli11 fmt nlohmann-json zlib xz bzip2"
    have c++ || { say "no C++ compiler: run xcode-select --install first"; exit 1; }
    tool cmake cmake
    tool git git
    tool gnuplot gnuplot
    prefix=$(brew --prefix)
    for package in $libraries; do
        [ -e "$prefix/opt/$package" ] || missing="$missing $package"
    done
    if [ -n "$missing" ]; then
        say "installing$missing"
        # shellcheck disable=SC2086
        brew install --quiet $missing
        say "no package here holds Fashion-MNIST; give race its files, or run it on other data (race --help)"
    fi
else
    say "knows apt-get, dnf and brew, and finds none of them here"
    say "please install: a C++20 compiler, make, git, cmake 3.25, Eigen 3.4, xsimd 8.1, doctest, CLI11, fmt, nlohmann-json,"
    say "zlib, liblzma, libbz2 and gnuplot"
    exit 1
fi

# A distribution may be too old to bring the cmake that the presets need.
version=$(cmake --version | sed -n 's/^cmake version \([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
if [ "${version% *}" -lt 3 ] || { [ "${version% *}" -eq 3 ] && [ "${version#* }" -lt 25 ]; }; then
    say "cmake is ${version% *}.${version#* }, and 3.25 or later is needed, which this system's packages do not bring"
    say "one way: pipx install cmake, or python3 -m pip install --user cmake; put ~/.local/bin first in PATH"
    exit 1
fi
