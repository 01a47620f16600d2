#!/usr/bin/env bash
# Proves which builds contain modules named `Security` and `LocalAuthentication`, beside packages that test
# for Apple's.
#
# All modules of one SwiftPM build share a search path, so a module of that name changes what
# `#if canImport(Security)` says in packages that never asked for it. Two packages under
# Tests/Packages are each built twice: before any module in question exists, and again after their
# sources were touched, because the second build is the one in which the name leaks.
set -euo pipefail
cd "$(dirname "$0")/.."
# The packages are consumers; they build as anybody would.
unset KEYCHAIN_WARNINGS

KEYCHAIN_HOME=$(mktemp -d "${TMPDIR:-/tmp}/keychain-names.XXXXXX")
export KEYCHAIN_HOME

fail() {
    printf 'names: %s\n' "$1" >&2
    exit 1
}

# Whether X509 was compiled with its `#if canImport(Security)` parts, which name SecCertificate.
x509_sees_security() {
    local symbols
    symbols=$(nm "$scratch/debug/X509.build/Certificate.swift.o")
    [[ $symbols == *SecCertificate* ]]
}

# From the log: the compiler does not rewrite an object file that comes out the same.
x509_was_compiled() {
    # Any of its files: the build does not name every one that it compiles together with others.
    grep -qE '(Compiling|Emitting module) X509' "$scratch.log"
}

# build PACKAGE PROGRAM...: builds PACKAGE and runs each program, which has to print what it sees.
build() {
    local package=$1 begin=$SECONDS program said
    shift
    # The cached plan of one package would do for the other, whose programs would then not be built.
    if ! swift build --disable-build-manifest-caching -debug-info-format none \
        --package-path "Tests/Packages/$package" --scratch-path "$scratch" \
        >"$scratch.log" 2>&1; then
        tail -n 40 "$scratch.log" >&2
        fail "$package does not build"
    fi
    x509_was_compiled || fail "the build of $package did not compile X509"
    echo "    built in $((SECONDS - begin)) s"
    for program in "$@"; do
        said=$("$scratch/debug/$program") || fail "$program of $package does not run"
        printf '    %s\n' "$program: ${said//$'\n'/; }"
    done
}

# touch_sources PACKAGE: makes the next build compile the programs, X509 and JWTKit again.
touch_sources() {
    find -L "Tests/Packages/$1/Sources" "$scratch/checkouts/swift-certificates/Sources/X509" \
        "$scratch/checkouts/jwt-kit/Sources" -name '*.swift' -exec touch {} +
}

echo '--> the dependencies of this package'
graph=$(swift package show-dependencies --format json)
[[ $graph == *'"swift-crypto"'* ]] || fail 'the dependency graph cannot be read'
for stranger in swift-certificates swift-nio hummingbird swift-configuration; do
    [[ $graph != *"\"$stranger\""* ]] || fail "$stranger is in the dependency graph"
done
echo '    neither swift-certificates nor swift-nio, nor what is behind a trait'

# Examples/Friendvatars is built in the same folder, so that the keychain, NIO and BoringSSL are built once for all.
scratch=$PWD/.build-friendvatars
# Whatever saw, or can be seen as, one of the names. What is not there is built anew.
forget() {
    local module
    for module in Security LocalAuthentication CryptoKit KeychainServices X509 JWTKit Tokens; do
        rm -rf "$scratch/debug/$module.build" "$scratch/debug/Modules/$module".*
    done
}
clean_up() {
    rm -rf "$KEYCHAIN_HOME"
    forget
}
trap clean_up EXIT
forget

echo '--> WithoutSecurity: KeychainServices beside swift-certificates and jwt-kit'
for round in clean touched; do
    echo "    $round"
    build WithoutSecurity UsesKeychain UsesNothing
    # Each program and the library between say `false`, or do not compile (see their sources).
    if x509_sees_security; then fail 'X509 was compiled against a module named Security'; fi
    # SwiftPM plans a Security.build for every target it knows; objects and modules are what counts.
    for name in Security LocalAuthentication; do
        found=$(find "$scratch/debug/" -name "$name.swiftmodule" -o -path "*/$name.build/*.o")
        [[ -z $found ]] || fail "a module named $name was built: $found"
    done
    touch_sources WithoutSecurity
done
echo '    no module named Security or LocalAuthentication was built, and nobody saw one'

# The modules in question are forgotten, and come into being anew.
forget

echo '--> WithSecurity: Security beside swift-certificates and jwt-kit'
for round in clean touched; do
    echo "    $round"
    build WithSecurity ImportsSecurity UsesCertificates
    touch_sources WithSecurity
done
# Otherwise the second build would say nothing about X509 compiled against our module.
x509_sees_security || fail 'X509 was not compiled against the module named Security'
echo '    X509 was compiled against our Security, and every program that names the product links and runs'
