#!/usr/bin/env bash
# Proves which builds contain modules named `Security` and `LocalAuthentication`, beside packages that test
# for Apple's.
#
# All modules of one SwiftPM build share a search path, so a module of that name changes what
# `#if canImport(Security)` says in packages that never asked for it. Two packages under
# Tests/Support/Packages are each built twice: before any module in question exists, and again after the files
# that ask for one were touched, because the second build is the one in which the name leaks.
set -euo pipefail
cd "$(dirname "$0")/../.."
. Scripts/check/checks.sh

KEYCHAIN_HOME=$(mktemp -d "${TMPDIR:-/tmp}/keychain-names.XXXXXX")
export KEYCHAIN_HOME

fail() {
    printf 'names: %s\n' "$1" >&2
    exit 1
}

# Whether X509 was compiled with its `#if canImport(Security)` parts, which name SecCertificate.
x509_sees_security() {
    local symbols
    symbols=$(nm "$checks/debug/X509.build/Certificate.swift.o")
    [[ $symbols == *SecCertificate* ]]
}

# By the log, as the compiler does not rewrite an object file that comes out the same. The log names some of its files.
x509_was_compiled() {
    grep -qE '(Compiling|Emitting module) X509' "$log"
}

# build PACKAGE PROGRAM...: builds PACKAGE and runs each program, which has to print what it sees.
build() {
    local package=$1 begin=$SECONDS program said
    shift
    if ! swift build "${flags[@]}" --package-path "Tests/Support/Packages/$package" >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        fail "$package does not build"
    fi
    echo "    built in $((SECONDS - begin)) s"
    for program in "$@"; do
        said=$("$checks/debug/$program") || fail "$program of $package does not run"
        printf '    %s\n' "$program: ${said//$'\n'/; }"
    done
}

# touch_sources PACKAGE: makes the next build compile the programs again, and those files of X509 and JWTKit whose
# meaning depends on a module's name.
touch_sources() {
    find -L "Tests/Support/Packages/$1/Sources" -name '*.swift' -exec touch {} +
    grep -rlE 'canImport\((Security|LocalAuthentication|CryptoKit)\)' --include='*.swift' \
        "$checks/checkouts/swift-certificates/Sources/X509" "$checks/checkouts/jwt-kit/Sources" | xargs -r touch
}

echo '--> the dependencies of this package'
graph=$(swift package show-dependencies --format json)
[[ $graph == *'"swift-crypto"'* ]] || fail 'the dependency graph cannot be read'
for stranger in swift-certificates swift-nio hummingbird swift-configuration; do
    [[ $graph != *"\"$stranger\""* ]] || fail "$stranger is in the dependency graph"
done
echo '    neither swift-certificates nor swift-nio, nor what is behind a trait'

log=$KEYCHAIN_HOME/log
clean_up() {
    rm -rf "$KEYCHAIN_HOME"
    forget_names
}
trap clean_up EXIT

forget_names
echo '--> WithoutSecurity: KeychainServices, and Security under an alias, beside swift-certificates and jwt-kit'
for round in clean touched; do
    echo "    $round"
    build WithoutSecurity UsesKeychain AliasesSecurity UsesNothing
    # The library between and the programs without the alias see none, or do not compile (see their sources).
    if x509_sees_security; then fail 'X509 was compiled against a module named Security'; fi
    # SwiftPM plans a Security.build for every target it knows; objects and modules are what counts.
    for name in Security LocalAuthentication; do
        found=$(find "$checks/debug/" -name "$name.swiftmodule" -o -path "*/$name.build/*.o")
        [[ -z $found ]] || fail "a module named $name was built: $found"
    done
    if [[ $round == touched ]]; then x509_was_compiled || fail 'the second build did not compile X509'; fi
    touch_sources WithoutSecurity
done
echo '    no module named Security or LocalAuthentication was built, and nobody saw one'

# What was compiled without the modules in question is compiled again, with them.
forget_names

echo '--> WithSecurity: Security beside swift-certificates and jwt-kit'
for round in clean touched; do
    echo "    $round"
    build WithSecurity ImportsSecurity UsesCertificates
    x509_was_compiled || fail "the build in round '$round' did not compile X509"
    touch_sources WithSecurity
done
# Otherwise the second build would say nothing about X509 compiled against our module.
x509_sees_security || fail 'X509 was not compiled against the module named Security'
echo '    X509 was compiled against our Security, and every program that names the product links and runs'
