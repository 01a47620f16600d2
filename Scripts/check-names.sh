#!/usr/bin/env bash
# Proves which builds contain a module named `Security`, with packages that test for Apple's.
#
# All modules of one SwiftPM build share a search path, so a module of that name changes what
# `#if canImport(Security)` says in packages that never asked for it. Two packages under
# Tests/Packages are each built from nothing and again after every module in question was touched,
# because the second build is the one in which the name leaks.
set -euo pipefail
cd "$(dirname "$0")/.."
# The packages are consumers; they build as anybody would.
unset KEYCHAIN_WARNINGS

fail() {
    printf 'names: %s\n' "$1" >&2
    exit 1
}

# Whether X509 was compiled with its `#if canImport(Security)` parts, which name SecCertificate.
x509_sees_security() {
    local symbols
    symbols=$(nm "$1/debug/X509.build/Certificate.swift.o")
    [[ $symbols == *SecCertificate* ]]
}

# build PACKAGE SCRATCH: builds, then runs every program and checks what it says it saw.
build_and_run() {
    local package=$1 scratch=$2 sees=$3 program said
    shift 3
    swift build --package-path "Tests/Packages/$package" --scratch-path "$scratch" -debug-info-format none |
        grep -E 'error:|warning:|Build complete|Compiling X509 Certificate.swift' || fail "$package does not build"
    for program in "$@"; do
        said=$("$scratch/debug/$program") || fail "$program of $package does not run"
        printf '    %s\n' "$program: ${said//$'\n'/; }"
        [[ $said == *"program sees Security: $sees"* ]] || fail "$program of $package should say '$sees'"
    done
}

touch_sources() {
    find "Tests/Packages/$1/Sources" "$2/checkouts/swift-certificates/Sources/X509" \
        "$2/checkouts/jwt-kit/Sources" -name '*.swift' -exec touch {} +
}

echo '--> the graph of this package'
graph=$(swift package show-dependencies --format json)
[[ $graph == *'"swift-crypto"'* ]] || fail 'cannot read the dependency graph'
for stranger in swift-certificates swift-nio jwt-kit; do
    [[ $graph != *"\"$stranger\""* ]] || fail "$stranger is in the dependency graph"
done
echo '    no swift-certificates, no swift-nio'

echo '--> WithoutSecurity: KeychainServices beside swift-certificates and jwt-kit'
scratch=$PWD/.build-names/without
rm -rf "$scratch"
for round in clean touched; do
    echo "    build: $round"
    build_and_run WithoutSecurity "$scratch" false UsesKeychain UsesNothing
    ! x509_sees_security "$scratch" || fail 'X509 was compiled against a module named Security'
    # The planner makes the folder Security.build for every target it knows; objects and modules are what counts.
    found=$(find "$scratch/debug/" -name 'Security.swiftmodule' -o -path '*/Security.build/*.o')
    [[ -z $found ]] || fail "a module named Security was built: $found"
    touch_sources WithoutSecurity "$scratch"
done
echo '    nothing named Security was built, nothing saw it'
