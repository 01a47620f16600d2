// swift-tools-version: 6.2
import PackageDescription

// A small web app in which people sign in and see their friends, and whose data folder gives nobody away. It stands on
// the products of swift-keychain; the traits bring the parts for servers.
let warnings: [SwiftSetting] =
    Context.environment["KEYCHAIN_WARNINGS"] == "error" ? [.treatAllWarnings(as: .error)] : []
let strict: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ] + warnings

func keychain(_ product: String) -> Target.Dependency { .product(name: product, package: "swift-keychain") }
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let hummingbirdTLS = Target.Dependency.product(name: "HummingbirdTLS", package: "hummingbird")
let hummingbirdTesting = Target.Dependency.product(name: "HummingbirdTesting", package: "hummingbird")
let http = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let mustache = Target.Dependency.product(name: "Mustache", package: "swift-mustache")
let configuration = Target.Dependency.product(name: "Configuration", package: "swift-configuration")
let configurationTesting = Target.Dependency.product(name: "ConfigurationTesting", package: "swift-configuration")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let sqlite = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let keychainX509 = Target.Dependency.product(name: "KeychainX509", package: "MutualTLS")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioHTTPTypes = Target.Dependency.product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let x509 = Target.Dependency.product(name: "X509", package: "swift-certificates")
let asn1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")

let package = Package(
    name: "Friendvatars",
    products: [
        .executable(name: "friendvatars", targets: ["friendvatars"]),
        .executable(name: "friendvatars-terminal", targets: ["friendvatars-terminal"]),
    ],
    dependencies: [
        .package(
            name: "swift-keychain", path: "../..",
            traits: ["ConfigurationSupport", "HTTPClientSupport", "HummingbirdSupport", "TLSSupport"]),
        .package(path: "../MutualTLS"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.20.0"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache.git", from: "2.0.0"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.30.0"),
        .package(url: "https://github.com/apple/swift-configuration.git", from: "1.0.0"),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.1.0"),
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.5.0"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.98.0"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.30.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-certificates.git", from: "1.19.4"),
        .package(url: "https://github.com/apple/swift-asn1.git", from: "1.3.0"),
    ],
    targets: [
        // Accounts, friends and avatars, and where they are kept: all that is not the web or the terminal.
        .target(
            name: "FriendvatarsKit",
            dependencies: [
                keychain("Credentials"), keychain("DataProtection"), keychain("Keychain"),
                keychain("KeychainServices"), keychain("ProtectedDatabase"), keychain("SealedFields"), crypto, http,
                nioCore, nioHTTP1,
                nioPosix, sqlite,
            ],
            swiftSettings: strict),
        // Pages and routes.
        .target(
            name: "FriendvatarsWeb",
            dependencies: [
                "FriendvatarsKit", keychain("Credentials"), keychain("HummingbirdCredentials"), keychain("Keychain"),
                keychain("KeychainTLS"), asn1, crypto, httpTypes, hummingbird, hummingbirdCore, hummingbirdTLS,
                keychainX509, logging, mustache,
                nioCore, nioHTTP1, nioHTTPTypes, nioSSL, x509,
            ],
            resources: [.embedInCode("Templates"), .embedInCode("Static")],
            swiftSettings: strict),
        .executableTarget(
            name: "friendvatars",
            dependencies: [
                "FriendvatarsKit", "FriendvatarsWeb", keychain("Keychain"), keychain("KeychainConfiguration"),
                arguments,
                configuration, http, logging, nioCore,
            ],
            path: "Sources/FriendvatarsServer",
            swiftSettings: strict),
        .executableTarget(
            name: "friendvatars-terminal",
            dependencies: ["FriendvatarsKit", keychain("Credentials"), keychain("Keychain"), arguments, crypto],
            path: "Sources/FriendvatarsTerminal",
            swiftSettings: strict),

        // What the app is measured against; not a product.
        .executableTarget(
            name: "friendvatars-bare",
            dependencies: ["FriendvatarsWeb", keychain("Credentials"), arguments, hummingbird, logging],
            path: "Benchmarks/Bare",
            swiftSettings: strict),
        .target(name: "TestSupport", path: "Tests/Support", swiftSettings: strict),
        .testTarget(
            name: "FriendvatarsTests",
            dependencies: [
                "FriendvatarsKit", "FriendvatarsWeb", "friendvatars", "friendvatars-terminal", keychain("Credentials"),
                keychain("Keychain"), keychain("KeychainServices"), keychain("KeychainTesting"), crypto, http,
                hummingbird,
                hummingbirdTesting, keychain("KeychainHTTP"), keychain("KeychainTLS"), logging, nioCore, nioHTTP1,
                nioPosix, nioSSL,
            ],
            swiftSettings: strict),
        // Of the modules behind the traits, which this package enables.
        .testTarget(
            name: "HummingbirdCredentialsTests",
            dependencies: [
                "TestSupport", keychain("Credentials"), keychain("HummingbirdCredentials"), crypto, httpTypes,
                hummingbird, hummingbirdTesting,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "KeychainTLSTests",
            dependencies: [
                "TestSupport", keychain("KeychainHTTP"), keychain("KeychainServices"), keychain("KeychainTesting"),
                keychain("KeychainTLS"), asn1, http, keychainX509, nioCore, nioHTTP1, nioPosix, nioSSL, x509,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "KeychainConfigurationTests",
            dependencies: [
                "TestSupport", keychain("Keychain"), keychain("KeychainConfiguration"), keychain("KeychainServices"),
                keychain("KeychainTesting"), configuration, configurationTesting,
            ],
            swiftSettings: strict),
    ]
)
