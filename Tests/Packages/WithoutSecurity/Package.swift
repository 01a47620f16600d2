// swift-tools-version: 6.2
import PackageDescription

// A program that keeps secrets through `KeychainServices`, beside packages that test for Apple's
// `Security` framework. The module of that name must stay out of this package's build.
let certificates = Target.Dependency.product(name: "X509", package: "swift-certificates")
let tokens = Target.Dependency.product(name: "JWTKit", package: "jwt-kit")

let package = Package(
    name: "WithoutSecurity",
    dependencies: [
        // The traits of Examples/Friendvatars, whose build folder this shares. Nothing that they bring is built.
        .package(
            name: "swift-keychain", path: "../../..", traits: ["ConfigurationSupport", "HummingbirdSupport"]),
        .package(url: "https://github.com/apple/swift-certificates.git", from: "1.15.0"),
        .package(url: "https://github.com/vapor/jwt-kit.git", from: "5.2.0"),
    ],
    targets: [
        .target(name: "Tokens", dependencies: [certificates, tokens]),
        .executableTarget(
            name: "UsesKeychain",
            dependencies: ["Tokens", .product(name: "KeychainServices", package: "swift-keychain")]),
        .executableTarget(name: "UsesNothing", dependencies: ["Tokens"]),
    ]
)
