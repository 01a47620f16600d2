// swift-tools-version: 6.2
import PackageDescription

// The floors of this package, lowest first. A module is a folder on a floor, with a sign (`NAME.docc`) that says what
// it is for. It uses lower floors, and modules of its own floor that stand above it here. FloorTests checks that.

let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let asn1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
// Behind traits: who does not enable them fetches and builds none of these.
let configuration = Target.Dependency.product(
    name: "Configuration", package: "swift-configuration", condition: .when(traits: ["ConfigurationSupport"]))
let hummingbird = Target.Dependency.product(
    name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["HummingbirdSupport"]))
let httpTypes = Target.Dependency.product(
    name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["HummingbirdSupport"]))
let nioCore = Target.Dependency.product(
    name: "NIOCore", package: "swift-nio", condition: .when(traits: ["TLSSupport"]))
let nioHTTP = Target.Dependency.product(
    name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["HTTPClientSupport"]))
let nioPosix = Target.Dependency.product(
    name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["TLSSupport"]))
let nioSSL = Target.Dependency.product(
    name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["TLSSupport"]))
let httpClient = Target.Dependency.product(
    name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["HTTPClientSupport"]))

let nioCompression = Target.Dependency.product(
    name: "NIOHTTPCompression", package: "swift-nio-extras", condition: .when(traits: ["HTTPClientSupport"]))
let nioWebSocket = Target.Dependency.product(
    name: "NIOWebSocket", package: "swift-nio", condition: .when(traits: ["HTTPClientSupport"]))
let nioTLS = Target.Dependency.product(
    name: "NIOTLS", package: "swift-nio", condition: .when(traits: ["HTTPClientSupport"]))
let nioHTTP2 = Target.Dependency.product(
    name: "NIOHTTP2", package: "swift-nio-http2", condition: .when(traits: ["HTTPClientSupport"]))
let asyncAlgorithms = Target.Dependency.product(
    name: "AsyncAlgorithms", package: "swift-async-algorithms", condition: .when(traits: ["HTTPClientSupport"]))

/// A package of others, from the lowest version that this one was built with.
///
/// With KEYCHAIN_DEPENDENCIES=lowest, exactly that version, so that the promise can be tried.
func dependency(_ repository: String, from version: Version) -> Package.Dependency {
    let url = "https://github.com/\(repository).git"
    return Context.environment["KEYCHAIN_DEPENDENCIES"] == "lowest"
        ? .package(url: url, exact: version) : .package(url: url, from: version)
}

let package = Package(
    name: "swift-keychain",
    // What the dependencies ask for. The modules of this package are for Linux: see Documentation/Use/Platforms.md.
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        "KeychainServices", "Security", "LocalAuthenticationServices", "LocalAuthentication", "EnclaveKeys",
        "CryptoKit", "CommonCrypto",
        "Keychain", "Credentials", "HummingbirdCredentials", "KeychainConfiguration", "KeychainTLS",
        "KeychainHTTP", "DataProtection", "DataProtectionNetworking", "ProtectedDatabase", "SealedFields",
        "KeychainTesting",
    ].map { .library(name: $0, targets: [$0]) },
    traits: [
        .trait(
            name: "ConfigurationSupport", description: "Configuration from the keychain, for apple/swift-configuration."
        ),
        .trait(
            name: "HTTPClientSupport",
            description: "Client certificates and pinned servers from the keychain, for AsyncHTTPClient.",
            enabledTraits: ["TLSSupport"]),
        .trait(
            name: "HummingbirdSupport", description: "Middleware that signs people in, for Hummingbird 2."),
        .trait(
            name: "TLSSupport", description: "Keys and certificates of the keychain for TLS, for swift-nio-ssl."),
    ],
    dependencies: [
        dependency("apple/swift-crypto", from: "4.5.2"),
        dependency("apple/swift-asn1", from: "1.7.4"),
        dependency("groue/GRDB.swift", from: "7.10.0"),
        // Behind traits.
        dependency("apple/swift-configuration", from: "1.4.0"),
        dependency("hummingbird-project/hummingbird", from: "2.28.1"),
        dependency("apple/swift-http-types", from: "1.8.0"),
        dependency("apple/swift-nio", from: "2.101.2"),
        dependency("apple/swift-nio-ssl", from: "2.37.6"),
        dependency("swift-server/async-http-client", from: "1.37.0"),
        dependency("apple/swift-nio-extras", from: "1.35.2"),
        dependency("apple/swift-nio-http2", from: "1.46.0"),
        dependency("apple/swift-async-algorithms", from: "1.1.4"),
    ]
)

/// Adds the targets of a floor, each in the folder with its name.
@MainActor func floor(_ folder: String, _ targets: Target...) {
    for target in targets {
        target.path = target.path ?? "\(folder)/\(target.name)"
        package.targets.append(target)
    }
}

/// - Parameters:
///   - uses: What it imports.
///   - links: What it needs in the program without importing it: it finds a class by its name, or starts the program.
func module(_ name: String, uses: Target.Dependency..., links: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: uses + links)
}

/// A library of the system. Without the name of its package it is loaded when it is needed.
func library(_ name: String, pkgConfig: String? = nil, package: String? = nil) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: package.map { [.apt([$0])] })
}

func program(_ name: String, path: String? = nil, uses: Target.Dependency...) -> Target {
    .executableTarget(name: name, dependencies: uses, path: path)
}

/// - Parameter exclude: Folders that are no code; those named `Fixtures` become resources.
func tests(
    _ name: String, uses: Target.Dependency..., links: [Target.Dependency] = [], exclude: [String] = [],
    hasFixtures: Bool = false
) -> Target {
    .testTarget(
        name: name, dependencies: uses + links, exclude: exclude, resources: hasFixtures ? [.copy("Fixtures")] : [])
}

// Bytes, files, libraries and ciphers. Nothing here knows of a keychain.
floor(
    "Sources/1-Ground",
    module("CLibrary"),
    module("PlainBytes", uses: "CLibrary"),
    module("Bytes", uses: "CLibrary", "PlainBytes"),
    module("Frames", uses: "CLibrary", "PlainBytes"),
    library("CEpoll"),
    library("CSodium", pkgConfig: "libsodium", package: "libsodium-dev"),
    module("SecureMemory", uses: "Bytes", "CLibrary", "CSodium"),
    module("PrivateFiles", uses: "Bytes", "CLibrary"),
    module("SystemLibraries", uses: "Bytes", "CLibrary"),
    module("SystemHTTP", uses: "Bytes", "CLibrary", "SystemLibraries"),
    module("CAEAD"),
    module("PreparedKeys", uses: "Bytes", "CAEAD", crypto, cryptoExtras),
    library("CSQLite", pkgConfig: "sqlite3", package: "libsqlite3-dev"),
    module("SystemSQLite", uses: "Bytes", "CSQLite"),
    module("DatabasePages", uses: "Bytes", "CLibrary", "PreparedKeys", "SystemLibraries", crypto),
    module("DatabaseVFS", uses: "Bytes", "CLibrary", "CSQLite", "DatabasePages"))

// What is asked of a vault, and by whom.
floor(
    "Sources/2-Contract",
    module("KeychainModel", uses: "Bytes"),
    module("Access", uses: "Bytes", "CLibrary", "KeychainModel"),
    module("DaemonLink", uses: "CLibrary", "Frames"),
    module("VaultInterface", uses: "Access", "Bytes", "CLibrary", "DaemonLink", "Frames", "KeychainModel"),
    module(
        "ProcessVault", uses: "Access", "Bytes", "CLibrary", "DaemonLink", "KeychainModel", "SystemLibraries",
        "VaultInterface"),
    module("StatusCodes", uses: "Access", "VaultInterface"))

// What keys, certificates and hashes of passwords are and do.
floor(
    "Sources/3-Keys",
    module("OneTimeCodes", uses: "Bytes", crypto),
    module("PasswordGeneration", uses: "Bytes", "CLibrary", crypto),
    module("Certificates", uses: "Bytes", "KeychainModel", asn1, crypto),
    module("OpenSSLCertificates", uses: "Bytes", "Certificates", "CLibrary", "SystemLibraries", asn1),
    module(
        "OnlineChecks", uses: "Bytes", "Certificates", "OpenSSLCertificates", "PrivateFiles", "SystemHTTP",
        "SystemLibraries", crypto),
    module(
        "TrustSettings", uses: "Bytes", "Certificates", "OpenSSLCertificates", "PrivateFiles", "ProcessVault",
        "VaultInterface"),
    module(
        "KeyCryptography", uses: "Bytes", "Certificates", "KeychainModel", "ProcessVault", "SystemLibraries",
        "VaultInterface", asn1, crypto),
    module(
        "VaultKeys", uses: "Bytes", "Certificates", "KeychainModel", "KeyCryptography", "StatusCodes", "VaultInterface"),
    module(
        "StoredKeys", uses: "Access", "Certificates", "KeychainModel", "KeyCryptography", "ProcessVault",
        "VaultInterface"),
    module(
        "PasswordHashes", uses: "Bytes", "CLibrary", "CSodium", "KeychainModel", "SystemLibraries", crypto,
        cryptoExtras))

// Asking a person, and hearing of locks.
floor(
    "Sources/4-People",
    module("SystemBus", uses: "Bytes", "CLibrary", "Frames", "SystemLibraries"),
    module("LockSignals", uses: "Bytes", "CLibrary", "SystemBus", "SystemLibraries"),
    module(
        "Presence", uses: "Access", "Bytes", "CLibrary", "KeychainModel", "PrivateFiles", "SystemBus",
        "SystemLibraries", crypto)
)

// Every decision about items.
floor(
    "Sources/5-Engine",
    module("Attestation", uses: "Bytes", crypto),
    module("Enclave", uses: "Attestation", "Bytes", "PreparedKeys", "SecureMemory", crypto),
    library("CTSS2"),
    module(
        "TPM", uses: "Attestation", "Bytes", "CLibrary", "CTSS2", "Enclave", "SecureMemory", "SystemLibraries", crypto),
    module(
        "Keybag", uses: "Bytes", "CLibrary", "Enclave", "KeychainModel", "PreparedKeys", "SecureMemory",
        "SystemLibraries", crypto),
    module("Sealing", uses: "Bytes", "KeychainModel", "PreparedKeys", crypto),
    module(
        "Circle", uses: "Bytes", "Frames", "KeychainModel", "PreparedKeys", "Sealing", "SecureMemory", crypto),
    module(
        "Items", uses: "Access", "Bytes", "CLibrary", "CSQLite", "DatabasePages", "DatabaseVFS", "KeychainModel",
        "Sealing", "SystemSQLite"),
    module(
        "Audit", uses: "Access", "Bytes", "CLibrary", "KeychainModel", "PrivateFiles", "SecureMemory",
        "SystemLibraries", "VaultInterface", crypto),
    module(
        "Vault", uses: "Access", "Attestation", "Audit", "Bytes", "CAEAD", "Certificates", "Circle", "CLibrary",
        "Enclave",
        "Frames",
        "Items",
        "Keybag", "KeychainModel", "KeyCryptography", "PreparedKeys", "Presence", "PrivateFiles",
        "ProcessVault", "Sealing", "SecureMemory", "SystemLibraries", "TPM", "VaultInterface", "VaultKeys", crypto))

// The vault across a socket.
floor(
    "Sources/6-Service",
    module("Connections", uses: "Access", "Bytes", "CEpoll", "CLibrary", "Frames", "SystemLibraries"),
    module(
        "VaultService", uses: "Access", "Bytes", "CLibrary", "Connections", "DaemonLink", "Frames", "KeychainModel",
        "Presence",
        "SystemLibraries", "VaultInterface"),
    module("KeyClient", uses: "CLibrary", "DaemonLink", "Frames", "PlainBytes"),
    module(
        "Broker", uses: "Access", "Bytes", "CLibrary", "Frames", "StoredKeys", "SystemLibraries", crypto, cryptoExtras),
    module(
        "SSHAgent", uses: "Bytes", "Certificates", "CLibrary", "Connections", "Frames", "KeyCryptography",
        "SystemLibraries",
        asn1, crypto, cryptoExtras),
    module(
        "SecretService", uses: "Access", "Bytes", "CAEAD", "CLibrary", "Connections", "Frames", "KeychainModel",
        "StoredKeys", "SystemBus", "VaultInterface", "VaultService", crypto))

// Files and databases, with keys from outside.
floor(
    "Sources/7-Storage",
    module(
        "ProtectedFiles", uses: "Bytes", "CLibrary", "KeychainModel", "PreparedKeys", "SystemLibraries",
        "VaultInterface", crypto),
    module(
        "PasswordFiles", uses: "Bytes", "CLibrary", "KeychainModel", "ProcessVault", "ProtectedFiles", "VaultInterface",
        crypto, cryptoExtras, links: ["Keybag"]),
    module(
        "ItemFiles", uses: "Bytes", "Certificates", "CLibrary", "Frames", "KeychainModel", "KeyCryptography",
        "PasswordFiles", "ProcessVault", "ProtectedFiles", "VaultInterface", "VaultKeys", asn1, crypto),
    module(
        "ExchangeFormats", uses: "Bytes", "CLibrary", "CSodium", "OneTimeCodes", "PasswordFiles", "PreparedKeys",
        "SystemLibraries", crypto, cryptoExtras),
    module("CircleFolder", uses: "Access", "Bytes", "CLibrary", "Frames", "VaultInterface", crypto),
    module(
        "CircleEtcd", uses: "Access", "Bytes", "Frames", "VaultInterface", crypto, httpClient, nioCore, nioHTTP,
        nioPosix),
    library("CFuse3"),
    module(
        "MountedFolder", uses: "Bytes", "CFuse3", "CLibrary", "KeychainModel", "ProtectedFiles", "SystemLibraries",
        "VaultInterface", crypto, cryptoExtras),
    module(
        "SQLCipherFiles", uses: "Bytes", "CLibrary", "CSQLite", "DatabasePages", "DatabaseVFS", "PreparedKeys",
        "SystemLibraries", crypto, cryptoExtras))

// Apple's names.
floor(
    "Sources/8-Apple",
    module(
        "KeychainServices", uses: "Access", "Bytes", "Certificates", "CLibrary", "KeychainModel", "KeyCryptography",
        "OnlineChecks", "OpenSSLCertificates", "ProcessVault", "StatusCodes", "StoredKeys", "TrustSettings",
        "VaultInterface", "VaultKeys", crypto, links: ["Vault", "VaultService"]),
    module("Security", uses: "KeychainServices"),
    module(
        "LocalAuthenticationServices", uses: "Access", "Bytes", "Certificates", "KeychainModel", "KeychainServices",
        "KeyCryptography", "ProcessVault", "StoredKeys", "VaultInterface", "VaultKeys", crypto),
    module("LocalAuthentication", uses: "LocalAuthenticationServices"),
    module(
        "EnclaveKeys", uses: "Bytes", "KeychainModel", "KeychainServices", "KeyCryptography",
        "LocalAuthenticationServices", "ProcessVault", "VaultInterface", crypto),
    module("CryptoKit", uses: "EnclaveKeys", crypto),
    module("CommonCrypto", links: [crypto]))

// The products for new code.
floor(
    "Sources/9-Swift",
    module(
        "Keychain", uses: "Access", "Bytes", "CLibrary", "ItemFiles", "KeychainModel", "KeychainServices",
        "OneTimeCodes",
        "PasswordGeneration", "Presence", "ProcessVault", "VaultInterface"),
    module(
        "DataProtectionEssentials", uses: "Bytes", "CLibrary", "KeychainModel", "PasswordFiles", "ProcessVault",
        "ProtectedFiles", "SystemLibraries", "VaultInterface", links: ["Vault", "VaultService"]),
    module(
        "DataProtection", uses: "Bytes", "CLibrary", "DataProtectionEssentials", "KeychainModel", "ProtectedFiles",
        "VaultInterface"),
    module("DataProtectionNetworking", uses: "Bytes", "DataProtection"),
    module(
        "DatabaseFiles", uses: "Bytes", "CLibrary", "CSQLite", "DatabasePages", "DatabaseVFS",
        "DataProtectionEssentials", "KeychainModel", "ProcessVault", "SQLCipherFiles", "StoredKeys", "SystemLibraries",
        "SystemSQLite", "VaultInterface"),
    module(
        "ProtectedDatabase", uses: "DatabaseFiles", "DatabaseVFS", "DataProtectionEssentials", "KeychainServices",
        "SystemSQLite", grdb),
    module(
        "SealedFields", uses: "Bytes", "KeychainModel", "KeychainServices", "PreparedKeys", "ProcessVault",
        "StoredKeys", "VaultInterface", crypto, grdb),
    module(
        "Credentials", uses: "Bytes", "CLibrary", "Keychain", "KeychainModel", "PasswordHashes", "PrivateFiles",
        "StoredKeys", "SystemLibraries", "VaultInterface", crypto),
    module("HummingbirdCredentials", uses: "Bytes", "Credentials", crypto, httpTypes, hummingbird),
    module(
        "KeychainTLS", uses: "KeychainServices", "ProcessVault", "VaultInterface", nioCore, nioPosix, nioSSL),
    module("KeychainHTTP", uses: "KeychainServices", "KeychainTLS", httpClient, nioCore, nioSSL),
    module("KeychainConfiguration", uses: "Bytes", "Keychain", "KeychainServices", "VaultInterface", configuration),
    module(
        "KeychainTesting", uses: "Access", "Bytes", "CLibrary", "Connections", "Enclave", "Frames", "Keybag",
        "KeychainModel",
        "KeychainServices", "LocalAuthenticationServices", "ProcessVault", "SecureMemory", "StatusCodes", "Vault",
        "VaultInterface", "VaultService"))

// A package that depends on this one gets the libraries alone: it neither fetches nor plans what only the programs and
// the tests need. SwiftPM reads the manifest of a dependency from its repository, in which it is at the root, and then
// from the folder `checkouts`. (KEYCHAIN_WHOLE=1 builds everything in a clone that is in a folder of that name.)
let isFetched =
    Context.environment["KEYCHAIN_WHOLE"] == nil
    && (Context.packageDirectory == "/" || Context.packageDirectory.contains("/checkouts/"))
if !isFetched {
    let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
    let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
    let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
    let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")
    let toml = Target.Dependency.product(name: "TOMLKit", package: "TOMLKit")
    let signals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
    package.dependencies += [
        dependency("apple/swift-argument-parser", from: "1.8.2"),
        dependency("apple/swift-log", from: "1.16.2"),
        dependency("apple/swift-metrics", from: "2.13.0"),
        dependency("swift-server/swift-service-lifecycle", from: "2.13.0"),
        dependency("LebJe/TOMLKit", from: "0.6.0"),
    ]
    package.products += [
        .executable(name: "keychain", targets: ["KeychainCommand"]),
        .executable(name: "keychain-sync", targets: ["KeychainSync"]),
        .executable(name: "keychain-broker", targets: ["KeychainBroker"]),
        .executable(name: "keychain-conformance", targets: ["ConformanceCommand"]),
    ]

    // What people start. `keychaind` is `keychain` under another name.
    floor(
        "Sources/10-Programs",
        module(
            "KeychainDaemon", uses: "Access", "Audit", "Bytes", "CLibrary", "Connections", "DaemonLink", "Frames",
            "KeychainModel",
            "LockSignals", "Presence", "PrivateFiles", "ProcessVault", "SecretService", "SystemBus", "SystemLibraries",
            "Vault", "VaultInterface", "VaultService", arguments, lifecycle, logging, metrics, signals),
        module(
            "CommandKit", uses: "Access", "Bytes", "CLibrary", "KeychainModel", "OpenSSLCertificates", "Presence",
            "ProcessVault", "SecureMemory", "StatusCodes", "StoredKeys", "SystemLibraries", "VaultInterface",
            arguments),
        module(
            "PasswordCommands", uses: "Access", "Bytes", "CLibrary", "CommandKit", "KeychainModel", "OneTimeCodes",
            "PasswordGeneration", "ProcessVault",
            "SecretService", "StatusCodes", "StoredKeys", "SystemLibraries", "VaultInterface", arguments, crypto),
        module(
            "KeyCommands", uses: "Access", "Attestation", "Bytes", "Certificates", "CLibrary", "CommandKit",
            "Connections", "Enclave", "ExchangeFormats", "Frames", "KeychainModel", "KeyCryptography", "OneTimeCodes",
            "OpenSSLCertificates", "PasswordCommands", "Presence",
            "PrivateFiles", "ProcessVault", "ProtectedFiles", "SecretService", "SecureMemory", "SSHAgent",
            "StatusCodes",
            "StoredKeys", "SystemBus", "SystemLibraries", "VaultInterface", "VaultKeys", arguments, asn1, crypto),
        module(
            "SecurityCommands", uses: "Access", "Bytes", "Certificates", "CLibrary", "CommandKit", "KeyCommands",
            "KeychainDaemon", "KeychainModel", "OnlineChecks", "OpenSSLCertificates", "PrivateFiles",
            "ProcessVault", "StatusCodes", "StoredKeys", "SystemLibraries", "TrustSettings",
            "VaultInterface", "VaultKeys", arguments, asn1, crypto),
        module(
            "FileCommands", uses: "Bytes", "CLibrary", "CommandKit", "Connections", "DatabaseFiles", "DatabasePages",
            "KeychainModel", "MountedFolder", "PasswordFiles", "ProcessVault", "ProtectedFiles", "StatusCodes",
            "SystemLibraries", "VaultInterface", arguments),
        module(
            "DatabaseCommands", uses: "Access", "Bytes", "CLibrary", "CommandKit", "CSQLite", "DatabaseFiles",
            "DatabaseVFS", "KeychainModel", "ProcessVault", "StatusCodes", "StoredKeys", "SystemLibraries",
            "SystemSQLite", "VaultInterface", arguments),
        module(
            "RunCommands", uses: "Access", "Broker", "Bytes", "CLibrary", "CommandKit", "DaemonLink", "Frames",
            "KeychainDaemon", "KeychainModel", "PasswordGeneration", "PrivateFiles", "ProcessVault", "SecretService",
            "StatusCodes", "StoredKeys", "SystemBus", "SystemLibraries", "VaultInterface",
            arguments, crypto),
        module(
            "BrowserCommands", uses: "Access", "Bytes", "CLibrary", "CommandKit", "CSodium", "ExchangeFormats",
            "KeychainModel", "OneTimeCodes", "OpenSSLCertificates", "PasswordCommands", "PasswordGeneration",
            "Presence", "ProcessVault", "SecureMemory", "StatusCodes", "SystemLibraries",
            "VaultInterface", arguments, crypto),
        module(
            "VaultCommands", uses: "Access", "Bytes", "CLibrary", "CommandKit", "DaemonLink", "DatabaseFiles",
            "Enclave",
            "FileCommands", "ItemFiles", "Keybag", "KeychainModel", "KeyCommands", "MountedFolder", "PasswordFiles",
            "Presence", "PrivateFiles", "ProcessVault", "ProtectedFiles", "SecureMemory", "StatusCodes",
            "SystemLibraries", "Vault",
            "VaultInterface", "VaultKeys", "VaultService", arguments),
        module(
            "CircleCommands", uses: "Access", "Bytes", "CircleFolder", "CLibrary", "CommandKit", "KeychainModel",
            "PasswordGeneration",
            "StatusCodes", "VaultInterface", arguments),
        module(
            "ScreenCommands", uses: "Access", "Bytes", "CLibrary", "CommandKit", "KeychainModel", "PasswordCommands",
            "Presence", "StatusCodes", "SystemLibraries", "VaultCommands", "VaultInterface", arguments),
        program(
            "KeychainCommand", uses: "BrowserCommands", "Bytes", "CircleCommands", "CLibrary", "CommandKit",
            "DatabaseCommands",
            "FileCommands",
            "KeychainDaemon", "KeyCommands", "PasswordCommands", "ProcessVault", "RunCommands", "ScreenCommands",
            "SecurityCommands", "StatusCodes", "SystemBus", "SystemLibraries", "Vault", "VaultCommands", "VaultService",
            arguments),
        // It speaks over the network, which the daemon does not; empty without the trait.
        program(
            "KeychainSync", uses: "Bytes", "CircleEtcd", "CLibrary", "CommandKit", "KeychainDaemon", "KeychainHTTP",
            "KeychainTLS", "ProcessVault", "StatusCodes", "Vault", "VaultInterface", "VaultService", arguments,
            httpClient,
            nioCore, nioSSL),
        // What a project wrote: its parser is in a process without secrets.
        module("SettingsFile", uses: "Broker", toml),
        // It reads what programs and servers send; empty without the trait.
        program(
            "KeychainBroker", uses: "Access", "Broker", "Bytes", "Certificates", "CLibrary", "CommandKit", "Frames",
            "KeychainDaemon", "SettingsFile",
            "SystemLibraries", asn1, asyncAlgorithms, crypto, httpClient, nioCore, nioCompression, nioHTTP, nioHTTP2,
            nioPosix, nioSSL, nioTLS, nioWebSocket),
        module("CPKCS11", links: [crypto]),
        module("PKCS11Module", uses: "CAEAD", "CLibrary", "CPKCS11", "DaemonLink", "Frames", "KeyClient", "PlainBytes"),
        program("ConformanceCommand", uses: "KeychainTesting", arguments),
        // Measures the engine against the least it could cost; not a product.
        program(
            "VaultBenchmark", path: "Benchmarks/Engine", uses: "Access", "Audit", "Bytes", "Connections", "CSQLite",
            "DaemonLink", "DatabaseVFS", "Enclave", "Frames", "Keybag", "KeychainModel", "KeychainServices",
            "PasswordHashes",
            "ProcessVault", "ProtectedDatabase", "ProtectedFiles", "SealedFields", "Sealing", "SecureMemory",
            "SQLCipherFiles", "Vault", "VaultInterface", "VaultService", crypto))

    floor(
        "Benchmarks",
        program(
            "CircleBenchmark", path: "Benchmarks/Circle", uses: "Access", "CircleEtcd", "KeychainModel", "Vault",
            "VaultInterface", httpClient, nioCore))

    // The programs that tests run as other processes, and kill.
    floor(
        "Tests/Support/Workers",
        program("CipherWorker", uses: "CommonCrypto"),
        program("CredentialsWorker", uses: "Credentials", "Keychain"),
        program("DataWorker", uses: "DataProtection", "DataProtectionNetworking"),
        program("DatabaseWorker", uses: "Bytes", "DatabaseVFS", "KeychainModel", "SQLCipherFiles", grdb),
        program(
            "ErrorExamples", uses: "Credentials", "DataProtection", "Keychain", "ProtectedDatabase", "SealedFields",
            crypto, grdb),
        program("FieldWorker", uses: "SealedFields", grdb),
        program("FileWorker", uses: "KeychainModel", "ProtectedFiles", "TestSupport"),
        program("MailTutorial", uses: "Keychain"),
        program("PageWorker", uses: "DatabasePages", "KeychainModel", "TestSupport"),
        program("PresenceWorker", uses: "Access", "Bytes", "KeychainModel", "Presence"),
        program("ProtectedDatabaseWorker", uses: "ProtectedDatabase", grdb),
        program("ShopTutorial", uses: "Keychain"),
        program("TrustWorker", uses: "KeychainServices"),
        program(
            "VaultWorker", uses: "Access", "Audit", "Bytes", "Connections", "DaemonLink", "Frames", "Keybag",
            "KeychainModel",
            "SecureMemory", "SystemBus", "SystemLibraries", "TestSupport", "Vault", "VaultInterface", "VaultService"),
        program("WebClientWorker", uses: httpClient, nioCore, nioHTTP))

    floor(
        "Tests/Support",
        module(
            "TestSupport", uses: "Access", "Bytes", "DatabasePages", "DatabaseVFS", "Enclave", "Items", "Keybag",
            "KeychainModel", "ProtectedFiles", "Sealing", "SecureMemory", "SQLCipherFiles", "SystemLibraries", "Vault",
            "VaultInterface", crypto, grdb))

    // Each floor's tests, in the order of its modules. What no target of a module's own tests, its sign says.
    floor(
        "Tests/1-Ground",
        tests("BytesTests", uses: "Bytes", "CLibrary", "TestSupport"),
        tests("FramesTests", uses: "Bytes", "Frames"),
        tests("PreparedKeysTests", uses: "Bytes", "PreparedKeys", crypto),
        tests("PrivateFilesTests", uses: "PrivateFiles", "TestSupport"),
        tests("SystemHTTPTests", uses: "SystemHTTP", "TestSupport"),
        tests("SystemSQLiteTests", uses: "CSQLite", "SystemSQLite", "TestSupport"),
        tests(
            "DatabasePagesTests", uses: "Bytes", "DatabasePages", "KeychainModel", "TestSupport", crypto,
            links: ["PageWorker"], hasFixtures: true),
        tests(
            "DatabaseVFSTests", uses: "DatabasePages", "DatabaseVFS", "KeychainModel", "SQLCipherFiles", "TestSupport",
            grdb, links: ["DatabaseWorker"]))
    floor(
        "Tests/2-Contract",
        tests("AccessTests", uses: "Access", "KeychainModel"))
    floor(
        "Tests/3-Keys",
        tests("CertificatesTests", uses: "Certificates", asn1, crypto, hasFixtures: true),
        tests(
            "KeyCryptographyTests", uses: "Access", "Bytes", "Certificates", "KeychainModel", "KeychainServices",
            "KeyCryptography", "ProcessVault", "TestSupport", "VaultInterface", "VaultKeys", exclude: ["Peer"],
            hasFixtures: true),
        tests("OneTimeCodesTests", uses: "OneTimeCodes", "TestSupport"),
        tests("PasswordGenerationTests", uses: "PasswordGeneration", "TestSupport"),
        tests(
            "PasswordHashesTests", uses: "Bytes", "KeychainModel", "PasswordHashes", "TestSupport", exclude: ["Peer"]))
    floor(
        "Tests/4-People",
        tests("SystemBusTests", uses: "Bytes", "Frames", "SystemBus", "TestSupport"),
        tests(
            "PresenceTests", uses: "Access", "Bytes", "KeychainModel", "LockSignals", "Presence", "SystemBus",
            "SystemLibraries", "TestSupport", links: ["PresenceWorker"], exclude: ["Peer"]))
    floor(
        "Tests/5-Engine",
        tests(
            "EnclaveTests", uses: "Attestation", "Enclave", "SecureMemory", "TestSupport", "TPM", crypto,
            exclude: ["Layout"]),
        tests(
            "KeybagTests", uses: "Bytes", "Enclave", "Keybag", "KeychainModel", "SecureMemory", "TestSupport", crypto),
        tests("SealingTests", uses: "Bytes", "KeychainModel", "Sealing", "TestSupport", crypto),
        tests(
            "CircleTests", uses: "Bytes", "Circle", "KeychainModel", "TestSupport", crypto, exclude: ["Peer"],
            hasFixtures: true),
        tests("ItemsTests", uses: "Access", "Bytes", "Items", "KeychainModel", "Sealing", "SystemSQLite"),
        tests(
            "AuditTests", uses: "Access", "Audit", "Bytes", "Enclave", "KeychainModel", "TestSupport", "Vault",
            "VaultInterface", crypto, exclude: ["Fixtures"]),
        tests(
            "VaultTests", uses: "Access", "Bytes", "Certificates", "Circle", "Enclave", "Items", "Keybag",
            "KeychainModel",
            "KeyCryptography", "Sealing", "SecureMemory", "SystemLibraries", "SystemSQLite", "TestSupport", "Vault",
            "VaultInterface",
            crypto, grdb, exclude: ["Fixtures"]))
    floor(
        "Tests/6-Service",
        tests(
            "VaultServiceTests", uses: "Access", "Attestation", "Bytes", "CircleFolder", "Connections", "CSQLite",
            "DaemonLink",
            "Enclave", "Frames",
            "KeychainDaemon", "KeychainModel", "LocalAuthenticationServices", "ProcessVault", "ProtectedFiles",
            "StatusCodes", "TestSupport", "Vault", "VaultInterface", "VaultService", grdb, links: ["KeychainCommand"]),
        tests("BrokerTests", uses: "Broker", "Bytes", "SystemLibraries", "TestSupport", crypto),
        tests("SSHAgentTests", uses: "Bytes", "Certificates", "SSHAgent", "TestSupport", crypto),
        tests(
            "SecretServiceTests", uses: "Access", "Bytes", "KeychainModel", "SecretService", "SystemBus", "TestSupport",
            "Vault", "VaultInterface", crypto, exclude: ["Peer"], hasFixtures: true))
    floor(
        "Tests/7-Storage",
        tests(
            "ExchangeFormatsTests", uses: "Bytes", "ExchangeFormats", "OneTimeCodes", "TestSupport", crypto,
            exclude: ["Peer"]),
        tests(
            "ProtectedFilesTests", uses: "Bytes", "CLibrary", "KeychainModel", "ProtectedFiles", "TestSupport",
            "VaultInterface", crypto, links: ["FileWorker"], exclude: ["Peer"], hasFixtures: true),
        tests(
            "PasswordFilesTests", uses: "Bytes", "KeychainModel", "PasswordFiles", "ProtectedFiles", "TestSupport",
            "VaultInterface", crypto, hasFixtures: true),
        tests(
            "CircleFolderTests", uses: "Access", "Bytes", "CircleFolder", "KeychainModel", "TestSupport", "Vault",
            "VaultInterface"),
        tests(
            "CircleEtcdTests", uses: "Access", "Bytes", "CircleEtcd", "Enclave", "Frames", "KeychainModel",
            "TestSupport", "Vault", "VaultInterface", "VaultService", httpClient, nioCore,
            exclude: ["Peer"]),
        tests(
            "ItemFilesTests", uses: "Access", "Bytes", "Certificates", "Enclave", "Frames", "ItemFiles", "Keybag",
            "KeychainModel", "PasswordFiles", "SecureMemory", "TestSupport", "Vault", "VaultInterface", "VaultKeys",
            crypto),
        tests(
            "MountedFolderTests", uses: "KeychainModel", "MountedFolder", "ProtectedFiles", "TestSupport", crypto,
            cryptoExtras, links: ["KeychainCommand", "VaultWorker"], exclude: ["Layout", "Peer"]),
        tests(
            "SQLCipherFilesTests", uses: "Bytes", "CSQLite", "DatabasePages", "DatabaseVFS", "PreparedKeys",
            "SQLCipherFiles", "TestSupport", grdb, links: ["DatabaseWorker"], exclude: ["Peer"]))
    floor(
        "Tests/8-Apple",
        tests(
            "KeychainServicesTests", uses: "Access", "Bytes", "Certificates", "KeychainModel", "KeychainServices",
            "OnlineChecks", "OpenSSLCertificates", "ProcessVault", "Security", "TestSupport", "VaultInterface", crypto,
            links: ["TrustWorker"], hasFixtures: true),
        tests(
            "LocalAuthenticationServicesTests", uses: "Access", "KeychainModel", "KeychainTesting",
            "LocalAuthentication", "LocalAuthenticationServices", "ProcessVault", "StoredKeys", "TestSupport",
            "VaultInterface"),
        tests(
            "EnclaveKeysTests", uses: "Bytes", "CryptoKit", "Enclave", "KeychainModel", "KeychainTesting",
            "SecureMemory", "TestSupport", "TPM", crypto),
        tests("CommonCryptoTests", uses: "CommonCrypto", "TestSupport", links: ["CipherWorker"]))
    floor(
        "Tests/9-Swift",
        tests(
            "KeychainTests", uses: "Access", "CircleEtcd", "Enclave", "Keybag", "Keychain", "KeychainModel", "Presence",
            "ProcessVault", "StatusCodes", "TestSupport", "Vault", "VaultInterface", crypto, httpClient),
        tests(
            "DataProtectionTests", uses: "Access", "Bytes", "Connections", "DataProtection", "DataProtectionNetworking",
            "Frames", "KeychainModel", "KeychainTesting", "ProcessVault", "ProtectedFiles", "TestSupport",
            "VaultInterface",
            "VaultService", links: ["DataWorker", "KeychainCommand"]),
        tests(
            "ProtectedDatabaseTests", uses: "Access", "DatabaseFiles", "DataProtection", "KeychainModel",
            "KeychainServices", "KeychainTesting", "ProcessVault", "ProtectedDatabase", "SystemSQLite", "TestSupport",
            "VaultInterface", grdb, links: ["ProtectedDatabaseWorker"]),
        tests(
            "SealedFieldsTests", uses: "KeychainServices", "KeychainTesting", "SealedFields", "TestSupport", crypto,
            grdb, links: ["FieldWorker"], exclude: ["Peer"], hasFixtures: true),
        tests(
            "CredentialsTests", uses: "Credentials", "Keychain", "KeychainTesting", "PasswordHashes", "TestSupport",
            crypto, links: ["CredentialsWorker"]),
        tests(
            "KeychainTestingTests", uses: "KeychainServices", "KeychainTesting", "LocalAuthenticationServices",
            "TestSupport", links: ["ConformanceCommand"]))
    floor(
        "Tests/10-Programs",
        tests("SettingsFileTests", uses: "Broker", "SettingsFile", "TestSupport"),
        tests(
            "KeychainCommandTests", uses: "Access", "BrowserCommands", "Bytes", "CommandKit",
            "KeychainCommand",
            "KeychainModel", "Presence", "RunCommands", "ScreenCommands", "TestSupport", "Vault", "VaultInterface",
            arguments, crypto, grdb,
            links: [
                "KeychainBroker", "KeychainSync", "MailTutorial", "PKCS11Module", "ShopTutorial", "WebClientWorker",
            ],
            exclude: ["Peer", "Sessions", "Transcripts"]))
    // What needs the whole house: kills and damage, memory, Apple's behaviour, the pages.
    floor(
        "Tests/Whole",
        tests("ConformanceTests", uses: "KeychainTesting", exclude: ["Cases"]),
        tests("CrashTests", uses: "Bytes", "KeychainModel", "TestSupport", "Vault", "VaultInterface", grdb),
        tests(
            "DocumentationTests", uses: "Credentials", "CryptoKit", "DataProtection", "Keychain", "KeychainServices",
            "KeychainTesting", "LocalAuthenticationServices", "ProtectedDatabase", "SealedFields", "Security",
            "TestSupport", crypto, grdb),
        tests("MemoryTests", uses: "Access", "KeychainModel", "TestSupport", "Vault", "VaultInterface"))
}

// `make test` makes warnings errors. The two features keep the seams between modules visible in the code.
let warnings: [SwiftSetting] =
    Context.environment["KEYCHAIN_WARNINGS"] == "error" ? [.treatAllWarnings(as: .error)] : []
for target in package.targets where target.type != .system {
    target.swiftSettings =
        [
            .swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("MemberImportVisibility"),
        ] + warnings
}
