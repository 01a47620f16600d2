// swift-tools-version: 6.2
import PackageDescription

// TLS with keys that stay in the keychain's enclave. The package asks for `KeychainServices`, which has Apple's
// names without Apple's module name: modules called `Security` or `CryptoKit` would change what swift-certificates and
// others of this build see.
let package = Package(
    name: "MutualTLS",
    products: [
        .library(name: "KeychainX509", targets: ["KeychainX509"])
    ],
    dependencies: [
        .package(name: "swift-keychain", path: "../..", traits: ["TLSSupport"]),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.98.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-certificates.git", from: "1.19.4"),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.1.0"),
        .package(url: "https://github.com/apple/swift-asn1.git", from: "1.3.0"),
    ],
    targets: [
        // For programs of your own: a key of the keychain as a private key of swift-certificates.
        .target(
            name: "KeychainX509",
            dependencies: [
                .product(name: "KeychainServices", package: "swift-keychain"),
                .product(name: "KeychainTLS", package: "swift-keychain"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "X509", package: "swift-certificates"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "_CryptoExtras", package: "swift-crypto"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
            ]),
        .executableTarget(
            name: "MutualTLS",
            dependencies: [
                "KeychainX509",
                .product(name: "KeychainServices", package: "swift-keychain"),
                .product(name: "KeychainTLS", package: "swift-keychain"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "X509", package: "swift-certificates"),
                .product(name: "_CryptoExtras", package: "swift-crypto"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
            ]),
    ]
)
