# Sourced by the scripts that build and run checks: one folder and the same flags for all of them.
#
# This package, Examples/Friendvatars and the packages under Tests/Packages have most of their modules in common.
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
    # Each module by one process of the compiler, and not by one for each processor: what they would do twice is a sixth of
    # the build, and other modules keep the other processors busy.
    -Xswiftc -driver-batch-count -Xswiftc 1
    # The toolchain's own linker is three times as fast as the system's.
    -Xswiftc -use-ld=lld
    # The cached plan of one package would be taken for that of another.
    --disable-build-manifest-caching
)
# The traits of Examples/Friendvatars. A package's traits are in the command line of each of its modules.
traits=(--traits 'ConfigurationSupport,HummingbirdSupport')

# The tests run in processes that take about the same time. Those of the first two mostly wait, the others compute.
groups=(
    --group 'programs=^(Command|Enclave|Presence|SSHAgent|VaultService)Tests[.]'
    --group 'files=^(Mount|PasswordFiles|ProtectedFiles|Vault)Tests[.]'
    --group 'keys=^(Certificates|Conformance|EnclaveKeys|KeychainServices|KeychainTesting|SecKey)Tests[.]'
)

# Removes the modules with Apple's names, and those that were compiled beside them or without them: what a package of
# another check would otherwise see.
forget_names() {
    local module
    for module in Security LocalAuthentication CryptoKit X509 JWTKit Tokens; do
        rm -rf "$checks/debug/$module.build" "$checks/debug/Modules/$module".*
    done
}
