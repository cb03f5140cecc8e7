#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/builds/unstable.sh [FOLDER]
# Makes a root of Debian's unstable release in FOLDER, installs there what install-deps.sh wants and clang, and runs the
# README's test command, the guards and the module on this commit with its g++, and then with its newest clang++; fails
# where a test does, or where a compiler warns. So the newest compilers, Eigen and xsimd are tried before a release. Needs
# root, debootstrap, git and 12 GiB. SUITE names another release, MIRROR another source of packages than the one that apt
# uses here, COMPILERS others than "g++ clang++", PRESETS others than "test ci". LACONIC_TEST_DATA is used if it is set. An
# existing root is used again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
suite=${SUITE:-sid}
root=${1:-build/$suite}
mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)}
mkdir -p "$root"
root=$(cd "$root" && pwd)

if [[ ! -e $root/etc/debian_version ]]; then
    debootstrap --variant=minbase "$suite" "$root" "$mirror" > "$root.log" || { tail "$root.log"; exit 1; }
fi
# Tools look at /proc, /dev and /sys; in a namespace of its own, so that nothing stays mounted.
inside() {
    unshare --mount bash -euc '
        mount --bind /proc "$0/proc"
        mount --bind /dev "$0/dev"
        mount --bind /sys "$0/sys"
        if [[ -n ${LACONIC_TEST_DATA:-} ]]; then
            mkdir -p "$0/mnt/data"
            mount --bind "$LACONIC_TEST_DATA" "$0/mnt/data"
            export LACONIC_TEST_DATA=/mnt/data
        fi
        exec chroot "$0" bash -euc "cd /source/laconic && $1"' "$root" "$1"
}

cp /etc/apt/apt.conf.d/* "$root/etc/apt/apt.conf.d/"  # such as a proxy
rm -rf "$root/source/laconic"  # of another commit
git archive --prefix=source/laconic/ HEAD | tar -x -C "$root"
# The release's newest clang, which may be newer than the one that it calls clang++.
inside 'apt-get -qq update
    newest=$(apt-cache search --names-only "^clang-[0-9]+\$" | sort -V | tail -n 1 | cut -d " " -f 1)
    DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install g++ "$newest"
    ln -sf "clang++-${newest#clang-}" /usr/bin/clang++
    ./cmake/install-deps.sh'
for compiler in ${COMPILERS:-g++ clang++}; do
    log=$root.$(basename "$compiler").log
    inside "$compiler --version | head -n 1
        dpkg-query -W -f='\${Package} \${Version}\n' libeigen3-dev libxsimd-dev
        rm -rf build
        for preset in ${PRESETS:-test ci}; do CXX=$compiler cmake --workflow --preset \$preset; done
        ./tests/builds/module.sh $compiler" 2>&1 | tee "$log"
    if grep -nE 'warning *[:#]' "$log"; then
        printf '%s warns\n' "$compiler"
        exit 1
    fi
done
