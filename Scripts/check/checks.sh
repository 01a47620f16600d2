# Sourced by the scripts that build and run checks: one folder and the same flags for all of them.
#
# This package, Examples/Friendvatars and the packages under Tests/Support/Packages have most of their modules in common.
# SwiftPM compiles a module once for all of them as long as its command line is the same in each build.

# Apart from .build, where `swift build` and `swift run` without these flags would compile everything anew.
checks=$PWD/.build-checks
# Warnings in our own packages are errors (see their manifests).
export KEYCHAIN_WARNINGS=error
# The order of a package's traits in the compiler's arguments is that of a hash table.
export SWIFT_DETERMINISTIC_HASHING=1
flags=(
    --scratch-path "$checks" --disable-xctest
    # No check steps through code. (The index of symbols stays: SwiftPM finds tests by it.)
    -debug-info-format none
    # One compiler process per module, which also writes its interface. Several would repeat a third of the build's work,
    # and other modules keep the processors busy. (With a thread for the code, there is an object file for each source, by
    # which SwiftPM finds tests.)
    -Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 1 -Xswiftc -disable-batch-mode
    # The toolchain's own linker is three times as fast as the system's.
    -Xswiftc -use-ld=lld
    # The cached plan of one package would be taken for that of another.
    --disable-build-manifest-caching
)
# The traits of Examples/Friendvatars. A package's traits are in the command line of each of its modules.
traits=(--traits 'ConfigurationSupport,HTTPClientSupport,HummingbirdSupport,TLSSupport')

# The tests run in processes that take about the same time; what is in no group is in one process more.
groups=(
    --group 'programs=^(KeychainCommandTests[.](?!Credential|Transcript|Broker|Isolated|Login|Mcp|Postgres|Project|Registry)|(Presence|SSHAgent|SystemBus)Tests[.])'
    --group 'broker=^KeychainCommandTests[.](Broker|Isolated|Login|Mcp|Postgres|Project|Registry)'
    --group 'files=^((Crash|Memory|MountedFolder|PasswordFiles|ProtectedFiles|Vault)Tests[.]|KeychainCommandTests[.]Credential)'
    --group 'keys=^(Certificates|Conformance|Enclave|EnclaveKeys|KeychainServices|KeychainTesting|KeyCryptography|VaultService)Tests[.]'
)

# Removes the modules with Apple's names and all modules whose code depends on them, so that the next package does not
# see them.
forget_names() {
    local module
    for module in Security LocalAuthentication CryptoKit X509 JWTKit Tokens; do
        rm -rf "$checks/debug/$module.build" "$checks/debug/Modules/$module".*
    done
}
