// swift-tools-version: 6.2
import PackageDescription

// Every target is Swift 6 with warnings shown; `ExistentialAny` and `MemberImportVisibility` keep the
// seams between modules visible in the code. `make test` sets KEYCHAIN_WARNINGS.
let warnings: [SwiftSetting] =
    Context.environment["KEYCHAIN_WARNINGS"] == "error" ? [.treatAllWarnings(as: .error)] : []
let strict: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ] + warnings

let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let asn1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let sqlite = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
// Behind traits: who does not enable them fetches and builds none of these.
let configuration = Target.Dependency.product(
    name: "Configuration", package: "swift-configuration", condition: .when(traits: ["ConfigurationSupport"]))
let hummingbird = Target.Dependency.product(
    name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["HummingbirdSupport"]))
let httpTypes = Target.Dependency.product(
    name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["HummingbirdSupport"]))

let package = Package(
    name: "swift-keychain",
    products: [
        .library(name: "KeychainServices", targets: ["KeychainServices"]),
        .library(name: "Security", targets: ["Security"]),
        .library(name: "LocalAuthenticationServices", targets: ["LocalAuthenticationServices"]),
        .library(name: "LocalAuthentication", targets: ["LocalAuthentication"]),
        .library(name: "EnclaveKeys", targets: ["EnclaveKeys"]),
        .library(name: "CryptoKit", targets: ["CryptoKit"]),
        .library(name: "Keychain", targets: ["Keychain"]),
        .library(name: "Credentials", targets: ["Credentials"]),
        .library(name: "HummingbirdCredentials", targets: ["HummingbirdCredentials"]),
        .library(name: "KeychainConfiguration", targets: ["KeychainConfiguration"]),
        .library(name: "DataProtection", targets: ["DataProtection"]),
        .library(name: "DataProtectionNetworking", targets: ["DataProtectionNetworking"]),
        .library(name: "ProtectedDatabase", targets: ["ProtectedDatabase"]),
        .library(name: "SealedFields", targets: ["SealedFields"]),
        .library(name: "KeychainTesting", targets: ["KeychainTesting"]),
    ],
    traits: [
        .trait(
            name: "ConfigurationSupport", description: "Configuration from the keychain, for apple/swift-configuration."
        ),
        .trait(
            name: "HummingbirdSupport", description: "Middleware that signs people in, for Hummingbird 2."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.1.0"),
        .package(url: "https://github.com/apple/swift-asn1.git", from: "1.3.0"),
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.5.0"),
        // Behind traits.
        .package(url: "https://github.com/apple/swift-configuration.git", from: "1.0.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.20.0"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.4.0"),
    ],
    targets: [
        // What everything stands on.
        .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .target(name: "SecureMemory", dependencies: ["CSodium"], swiftSettings: strict),
        .target(name: "PrivateFiles", swiftSettings: strict),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "SystemSQLite", dependencies: ["CSQLite"], swiftSettings: strict),
        .target(name: "KeychainModel", swiftSettings: strict),

        // The vault engine, from the root of trust up.
        .target(name: "Attestation", dependencies: [crypto], swiftSettings: strict),
        .target(name: "Enclave", dependencies: ["Attestation", "SecureMemory", crypto], swiftSettings: strict),
        // The TPM2 Software Stack's types; its libraries are loaded when a vault is bound to a TPM.
        .systemLibrary(name: "CTSS2"),
        .target(
            name: "TPM",
            dependencies: ["Attestation", "CTSS2", "Enclave", "SecureMemory", "SystemLibraries", crypto],
            swiftSettings: strict),
        .target(
            name: "Keybag", dependencies: ["Enclave", "KeychainModel", "SecureMemory", crypto], swiftSettings: strict),
        .target(name: "Sealing", dependencies: ["KeychainModel", crypto], swiftSettings: strict),
        .target(
            name: "Items", dependencies: ["CSQLite", "KeychainModel", "Sealing", "SystemSQLite"], swiftSettings: strict),
        .target(name: "Certificates", dependencies: ["KeychainModel", asn1, crypto], swiftSettings: strict),
        .target(name: "Access", dependencies: ["KeychainModel"], swiftSettings: strict),
        .target(name: "VaultInterface", dependencies: ["Access", "KeychainModel"], swiftSettings: strict),
        // Apple's status codes.
        .target(name: "StatusCodes", dependencies: ["Access", "VaultInterface"], swiftSettings: strict),
        .target(
            name: "Audit",
            dependencies: ["Access", "KeychainModel", "PrivateFiles", "SystemLibraries", "VaultInterface", crypto],
            swiftSettings: strict),
        .target(
            name: "Vault",
            dependencies: [
                "Access", "Attestation", "Audit", "Certificates", "Enclave", "Items", "Keybag", "KeychainModel",
                "Presence", "PrivateFiles",
                "Sealing",
                "SecureMemory", "TPM", "VaultInterface", crypto,
            ],
            swiftSettings: strict),

        // Keys that the keychain keeps for what follows.
        .target(
            name: "StoredKeys",
            dependencies: ["Access", "Certificates", "KeyCryptography", "KeychainModel", "VaultInterface"],
            swiftSettings: strict),

        // Files under Data Protection. Keys come from outside.
        .target(
            name: "ProtectedFiles",
            dependencies: ["KeychainModel", "PreparedAEAD", "SystemLibraries", "VaultInterface", crypto],
            swiftSettings: strict),

        // AES-GCM and ChaChaPoly for many messages under one key.
        .target(name: "CAEAD"),
        .target(name: "PreparedAEAD", dependencies: ["CAEAD", crypto], swiftSettings: strict),

        // The pages of encrypted databases, without SQLite.
        .target(
            name: "DatabasePages", dependencies: ["KeychainModel", "PreparedAEAD", "SystemLibraries", crypto],
            swiftSettings: strict),

        // SQLite on such pages.
        .target(
            name: "DatabaseVFS", dependencies: ["CSQLite", "DatabasePages", "KeychainModel"], swiftSettings: strict),

        // Encrypted databases whose keys are in the keychain: files (DatabaseFiles) and GRDB connections (ProtectedDatabase).
        .target(
            name: "DatabaseFiles",
            dependencies: [
                "CSQLite", "DataProtectionEssentials", "DatabasePages", "DatabaseVFS", "KeychainModel", "StoredKeys",
                "SystemSQLite", "VaultInterface",
            ],
            swiftSettings: strict),
        .target(
            name: "ProtectedDatabase",
            dependencies: [
                "DataProtectionEssentials", "DatabaseFiles", "DatabaseVFS", "KeychainServices", "SystemSQLite", sqlite,
            ],
            swiftSettings: strict),

        // Files under a password. Argon2id is the keybag's, linked and not imported.
        .target(
            name: "PasswordFiles",
            dependencies: ["Keybag", "KeychainModel", "ProtectedFiles", "VaultInterface", crypto, cryptoExtras],
            swiftSettings: strict),

        // A folder of them as plain ones. libfuse is loaded when something is mounted.
        .systemLibrary(name: "CFuse3"),
        .target(
            name: "MountedFolder",
            dependencies: [
                "CFuse3", "KeychainModel", "ProtectedFiles", "SystemLibraries", "VaultInterface", crypto, cryptoExtras,
            ],
            swiftSettings: strict),

        // SQLCipher's files. The program that reads them links no SQLite: libsqlcipher has the same symbols.
        .target(name: "SQLCipherWire", dependencies: ["KeychainModel"], swiftSettings: strict),
        .executableTarget(
            name: "keychain-sqlcipher", dependencies: ["KeychainModel", "SQLCipherWire", "SystemLibraries"],
            path: "Sources/SQLCipherCommand", swiftSettings: strict),
        .target(
            name: "SQLCipherService",
            dependencies: [
                "CSQLite", "KeychainModel", "PrivateFiles", "SQLCipherWire", "SystemLibraries", "SystemSQLite", crypto,
                cryptoExtras,
            ],
            swiftSettings: strict),

        // Asking a person, and hearing of locks. System libraries are loaded when they are needed.
        .target(name: "SystemLibraries", swiftSettings: strict),
        .target(name: "SystemBus", dependencies: ["SystemLibraries"], swiftSettings: strict),
        .target(
            name: "OpenSSLCertificates", dependencies: ["KeychainModel", "SystemLibraries", asn1], swiftSettings: strict
        ),
        .target(
            name: "Presence",
            dependencies: ["Access", "SystemBus", "KeychainModel", "PrivateFiles", "SystemLibraries", crypto],
            swiftSettings: strict),
        .target(name: "LockSignals", dependencies: ["SystemBus", "SystemLibraries"], swiftSettings: strict),

        // What keys can do. libcrypto is loaded for what swift-crypto lacks.
        .target(
            name: "KeyCryptography",
            dependencies: ["Certificates", "KeychainModel", "SystemLibraries", "VaultInterface", asn1, crypto],
            swiftSettings: strict),
        // Keys in a vault or kept by its enclave.
        .target(
            name: "VaultKeys",
            dependencies: ["Certificates", "KeyCryptography", "KeychainModel", "StatusCodes", "VaultInterface"],
            swiftSettings: strict),
        .target(
            name: "VaultService",
            dependencies: ["Access", "KeychainModel", "Presence", "SystemLibraries", "VaultInterface"],
            swiftSettings: strict),

        // Apple's names. They link the engine and do not import it (see VaultEngine).
        .target(
            name: "KeychainServices",
            dependencies: [
                "Access", "Certificates", "KeyCryptography", "KeychainModel", "OpenSSLCertificates", "StatusCodes",
                "Vault", "VaultInterface", "VaultKeys", "VaultService", crypto,
            ],
            swiftSettings: strict),
        .target(name: "Security", dependencies: ["KeychainServices"], swiftSettings: strict),
        .target(
            name: "LocalAuthenticationServices",
            dependencies: ["Access", "KeychainModel", "KeychainServices", "VaultInterface", crypto],
            swiftSettings: strict),
        .target(
            name: "EnclaveKeys",
            dependencies: [
                "KeychainModel", "KeychainServices", "LocalAuthenticationServices", "VaultInterface", crypto,
            ],
            swiftSettings: strict),
        .target(name: "CryptoKit", dependencies: ["EnclaveKeys", crypto], swiftSettings: strict),
        .target(
            name: "LocalAuthentication", dependencies: ["LocalAuthenticationServices"], swiftSettings: strict),

        // The idiomatic API, the test support and the programs.
        .target(
            name: "Keychain",
            dependencies: ["Access", "KeychainModel", "KeychainServices", "Presence", "Vault"],
            swiftSettings: strict),
        // Protected files, without what needs all of Foundation, which brings ICU's data into a program.
        .target(
            name: "DataProtectionEssentials",
            dependencies: [
                "Access", "KeychainModel", "PasswordFiles", "ProtectedFiles", "SystemLibraries", "Vault",
                "VaultInterface",
                "VaultService",
            ],
            swiftSettings: strict),
        .target(
            name: "DataProtection",
            dependencies: ["DataProtectionEssentials", "KeychainModel", "ProtectedFiles", "VaultInterface"],
            swiftSettings: strict),
        // Hashes of passwords, without a keychain. libcrypt is loaded when a hash of bcrypt's is met.
        .target(
            name: "PasswordHashes",
            dependencies: ["CSodium", "KeychainModel", "SystemLibraries", crypto, cryptoExtras], swiftSettings: strict),
        // Signing in.
        .target(
            name: "Credentials",
            dependencies: [
                "Access", "Keychain", "KeychainModel", "PasswordHashes", "PrivateFiles", "StoredKeys", "VaultInterface",
                crypto,
            ],
            swiftSettings: strict),
        // For servers, each behind a trait; without it the module is empty. Tested by Examples/Friendvatars, which enables both.
        .target(
            name: "HummingbirdCredentials",
            dependencies: ["Credentials", "KeychainModel", crypto, httpTypes, hummingbird],
            swiftSettings: strict),
        .target(
            name: "KeychainConfiguration",
            dependencies: ["Keychain", "KeychainServices", configuration],
            swiftSettings: strict),
        // Apart, because FoundationNetworking brings libcurl and some thirty libraries more into a program.
        .target(name: "DataProtectionNetworking", dependencies: ["DataProtection"], swiftSettings: strict),
        .target(
            name: "SealedFields",
            dependencies: [
                "KeychainModel", "KeychainServices", "PreparedAEAD", "StoredKeys", "VaultInterface", crypto, sqlite,
            ],
            swiftSettings: strict),
        .target(
            name: "KeychainTesting",
            dependencies: [
                "Access", "Enclave", "Keybag", "KeychainModel", "Keychain", "KeychainServices",
                "LocalAuthenticationServices", "SecureMemory", "Vault", "VaultService",
            ],
            swiftSettings: strict),
        .target(
            name: "SSHAgent", dependencies: ["Certificates", "KeyCryptography", "VaultService", asn1, crypto],
            swiftSettings: strict),
    ]
)

// A package that depends on this one gets the libraries alone: it neither fetches nor plans what only the programs and
// the tests need. SwiftPM reads the manifest of a dependency from its repository, in which it is at the root, and then
// from the folder `checkouts`. (KEYCHAIN_WHOLE=1 builds everything in a clone that is in a folder of that name.)
let isFetched =
    Context.environment["KEYCHAIN_WHOLE"] == nil
    && (Context.packageDirectory == "/" || Context.packageDirectory.contains("/checkouts/"))
if !isFetched {
    package.products += [
        .executable(name: "keychain", targets: ["KeychainCommand"]),
        .executable(name: "keychain-sqlcipher", targets: ["keychain-sqlcipher"]),
        .executable(name: "keychain-conformance", targets: ["ConformanceCommand"]),
    ]
    package.dependencies += [
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.5.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.6.0"),
    ]
    package.targets += [
        // `keychain` under the name `keychaind`.
        .target(
            name: "KeychainDaemon",
            dependencies: [
                "Access", "Audit", "LockSignals", "Presence", "PrivateFiles", "Vault", "VaultInterface", "VaultService",
                arguments, lifecycle, logging, metrics,
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "KeychainCommand",
            dependencies: [
                "Access", "Attestation", "CSQLite", "Certificates", "DatabaseFiles", "DatabasePages", "Enclave",
                "KeyCryptography", "Keybag", "KeychainDaemon", "KeychainModel", "MountedFolder", "OpenSSLCertificates",
                "PasswordFiles", "Presence", "PrivateFiles", "ProtectedFiles", "SQLCipherService", "SQLCipherWire",
                "SSHAgent", "SecureMemory", "StatusCodes", "StoredKeys", "SystemLibraries", "SystemSQLite", "Vault",
                "VaultInterface", "VaultKeys", "VaultService", arguments, asn1, crypto,
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "ConformanceCommand",
            dependencies: ["KeychainTesting", arguments],
            swiftSettings: strict),

        // Measures the engine against the least it could cost; not a product.
        .executableTarget(
            name: "VaultBenchmark",
            dependencies: [
                "Access", "Audit", "CSQLite", "DatabaseVFS", "Enclave", "Keybag", "KeychainModel", "KeychainServices",
                "PasswordHashes", "ProtectedDatabase", "ProtectedFiles",
                "SealedFields",
                "Sealing",
                "SecureMemory", "Vault",
                "VaultInterface",
                "KeychainCommand", "VaultService", crypto,
            ],
            path: "Benchmarks/Engine",
            swiftSettings: strict),

        // Tests. `TestSupport` is what several of them share.
        .target(
            name: "TestSupport",
            dependencies: [
                "Access", "DatabasePages", "Enclave", "Items", "Keybag", "KeychainModel", "PrivateFiles",
                "ProtectedFiles", "Sealing", "SecureMemory", "SystemLibraries", "Vault", "VaultInterface", crypto,
            ],
            path: "Tests/TestSupport",
            swiftSettings: strict),
        // The program that tests run as another process.
        .executableTarget(
            name: "VaultWorker",
            dependencies: [
                "Access", "Audit", "KeychainModel", "SecureMemory", "TestSupport", "Vault", "VaultInterface",
                "VaultService",
            ],
            path: "Tests/VaultWorker",
            swiftSettings: strict),
        .testTarget(
            name: "SystemSQLiteTests", dependencies: ["CSQLite", "SystemSQLite", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "AccessTests", dependencies: ["Access", "KeychainModel"], swiftSettings: strict),
        .testTarget(
            name: "AuditTests",
            dependencies: ["Access", "Audit", "KeychainModel", "PrivateFiles", "TestSupport", "Vault", crypto],
            exclude: ["Fixtures"],
            swiftSettings: strict),
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "Credentials", "CryptoKit", "DataProtection", "Keychain", "KeychainServices", "KeychainTesting",
                "LocalAuthenticationServices",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "KeychainTests",
            dependencies: [
                "Access", "Enclave", "Keybag", "Keychain", "KeychainModel", "Presence", "TestSupport", "Vault",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "PasswordHashesTests", dependencies: ["KeychainModel", "PasswordHashes", "TestSupport"],
            exclude: ["Peer"], swiftSettings: strict),
        // The program that tests of signing in run as another process.
        .executableTarget(
            name: "CredentialsWorker", dependencies: ["Credentials", "Keychain"], path: "Tests/CredentialsWorker",
            swiftSettings: strict),
        .testTarget(
            name: "CredentialsTests",
            dependencies: [
                "Credentials", "CredentialsWorker", "Keychain", "KeychainTesting", "PasswordHashes", "TestSupport",
                crypto,
            ],
            swiftSettings: strict),
        // The program that tests of Data Protection run as another process.
        .executableTarget(
            name: "DataWorker", dependencies: ["DataProtection", "DataProtectionNetworking"], path: "Tests/DataWorker",
            swiftSettings: strict),
        .testTarget(
            name: "DataProtectionTests",
            dependencies: [
                "Access", "DataProtection", "DataProtectionNetworking", "DataWorker", "KeychainModel",
                "KeychainCommand", "KeychainTesting", "ProtectedFiles", "TestSupport", "Vault", "VaultInterface",
                "VaultService",
            ],
            swiftSettings: strict),
        // The program that tests of encrypted databases run as another process.
        .executableTarget(
            name: "ProtectedDatabaseWorker", dependencies: ["ProtectedDatabase", sqlite],
            path: "Tests/ProtectedDatabaseWorker", swiftSettings: strict),
        .testTarget(
            name: "ProtectedDatabaseTests",
            dependencies: [
                "DataProtection", "DatabaseFiles", "KeychainServices", "KeychainTesting", "ProtectedDatabase",
                "ProtectedDatabaseWorker", "SystemSQLite", "TestSupport", sqlite,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "VaultServiceTests",
            dependencies: [
                "Access", "Attestation", "Enclave", "KeychainModel", "ProtectedFiles", "TestSupport",
                "Vault",
                "KeychainCommand", "VaultInterface", "VaultService",
                sqlite,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "KeychainCommand", "KeychainModel", "TestSupport", "keychain-sqlcipher", arguments,
                sqlite,
            ],
            exclude: ["Sessions", "Transcripts"],
            swiftSettings: strict),
        .testTarget(
            name: "EnclaveKeysTests",
            dependencies: [
                "CryptoKit", "Enclave", "KeychainModel", "KeychainTesting", "TPM", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SSHAgentTests", dependencies: ["SSHAgent", "TestSupport", crypto], swiftSettings: strict),
        .testTarget(
            name: "VaultTests",
            dependencies: [
                "Access", "Certificates", "Enclave", "Items", "Keybag", "KeychainModel", "PrivateFiles", "Sealing",
                "SecureMemory", "SystemSQLite", "TestSupport", "Vault", crypto, sqlite,
            ],
            exclude: ["Fixtures"],
            swiftSettings: strict),
        // The program that tests of prompts run at a terminal of its own.
        .executableTarget(
            name: "PresenceWorker", dependencies: ["Access", "KeychainModel", "Presence"],
            path: "Tests/PresenceWorker", swiftSettings: strict),
        .testTarget(
            name: "PresenceTests",
            dependencies: [
                "Access", "SystemBus", "KeychainModel", "LockSignals", "Presence", "PresenceWorker", "SystemLibraries",
                "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "KeychainTestingTests",
            dependencies: [
                "ConformanceCommand", "KeychainServices", "KeychainTesting", "LocalAuthenticationServices",
                "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ConformanceTests",
            dependencies: ["KeychainTesting"],
            path: "Tests/Conformance",
            exclude: ["Cases"],
            swiftSettings: strict),
        .testTarget(
            name: "EnclaveTests",
            dependencies: [
                "Attestation", "CTSS2", "Enclave", "SecureMemory", "TPM", "TestSupport", crypto,
            ],
            exclude: ["Layout"], swiftSettings: strict),
        // The program that tests of protected files kill.
        .executableTarget(
            name: "FileWorker", dependencies: ["KeychainModel", "ProtectedFiles", "TestSupport", "VaultInterface"],
            path: "Tests/FileWorker", swiftSettings: strict),
        .testTarget(
            name: "ProtectedFilesTests",
            dependencies: ["FileWorker", "KeychainModel", "ProtectedFiles", "TestSupport", "VaultInterface", crypto],
            exclude: ["Peer"],
            resources: [.copy("Fixtures")],
            swiftSettings: strict),
        // The program that tests of the page index kill.
        .executableTarget(
            name: "PageWorker", dependencies: ["DatabasePages", "KeychainModel", "TestSupport"],
            path: "Tests/PageWorker", swiftSettings: strict),
        .testTarget(
            name: "DatabasePagesTests",
            dependencies: ["DatabasePages", "KeychainModel", "PageWorker", "TestSupport", crypto],
            exclude: ["Peer"],
            resources: [.copy("Fixtures")],
            swiftSettings: strict),
        // The program that tests of databases kill.
        .executableTarget(
            name: "DatabaseWorker", dependencies: ["DatabaseVFS", "KeychainModel", sqlite],
            path: "Tests/DatabaseWorker", swiftSettings: strict),
        .testTarget(
            name: "DatabaseVFSTests",
            dependencies: ["DatabasePages", "DatabaseVFS", "DatabaseWorker", "KeychainModel", "TestSupport", sqlite],
            swiftSettings: strict),
        .testTarget(
            name: "SQLCipherTests",
            dependencies: [
                "KeychainModel", "SQLCipherService", "SQLCipherWire", "SystemSQLite", "TestSupport",
                "keychain-sqlcipher",
                crypto,
            ],
            exclude: ["Peer"], swiftSettings: strict),
        .testTarget(
            name: "PasswordFilesTests",
            dependencies: [
                "KeychainModel", "PasswordFiles", "ProtectedFiles", "TestSupport", "VaultInterface", crypto,
            ],
            resources: [.copy("Fixtures")],
            swiftSettings: strict),
        .testTarget(
            name: "MountTests",
            dependencies: [
                "KeychainCommand", "MountedFolder", "TestSupport", "VaultWorker", crypto,
            ],
            exclude: ["Layout", "Peer"], swiftSettings: strict),
        // The program that tests of sealed fields kill.
        .executableTarget(
            name: "FieldWorker", dependencies: ["SealedFields", sqlite], path: "Tests/FieldWorker",
            swiftSettings: strict),
        .testTarget(
            name: "SealedFieldsTests",
            dependencies: [
                "FieldWorker", "KeychainServices", "KeychainTesting", "LocalAuthenticationServices", "SealedFields",
                "TestSupport", crypto, sqlite,
            ],
            exclude: ["Peer"],
            resources: [.copy("Fixtures")],
            swiftSettings: strict),
        .testTarget(
            name: "CertificatesTests",
            dependencies: ["Certificates", asn1, crypto],
            resources: [.copy("Fixtures")],
            swiftSettings: strict),
        .testTarget(
            name: "SecKeyTests",
            dependencies: [
                "Access", "Certificates", "KeyCryptography", "KeychainModel", "KeychainServices", "TestSupport",
                "Vault", "VaultInterface", "VaultKeys",
            ],
            exclude: ["Peer"],
            resources: [.copy("Fixtures")],
            swiftSettings: strict),
        .testTarget(
            name: "LocalAuthenticationTests",
            dependencies: [
                "Access", "KeychainModel", "KeychainServices", "KeychainTesting", "LocalAuthentication",
                "LocalAuthenticationServices", "TestSupport", "Vault",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "KeychainServicesTests",
            dependencies: [
                "Access", "Certificates", "KeychainModel", "KeychainServices", "Security", "TestSupport", "Vault",
            ],
            swiftSettings: strict),
    ]
}
