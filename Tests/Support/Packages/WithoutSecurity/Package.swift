// swift-tools-version: 6.2
import PackageDescription

// A program that keeps secrets through `KeychainServices`, and one whose sources say `import Security` and mean an
// alias, beside packages that test for Apple's `Security` framework. A module of that name must stay out of this
// package's build.
let certificates = Target.Dependency.product(name: "X509", package: "swift-certificates")
let tokens = Target.Dependency.product(name: "JWTKit", package: "jwt-kit")

// SwiftPM gives an alias only to a package that is named by the folder it is in.
let keychain = Context.packageDirectory.split(separator: "/").dropLast(4).last.map(String.init) ?? ""

let package = Package(
    name: "WithoutSecurity",
    dependencies: [
        // The traits of Examples/Friendvatars, whose build folder this shares. Nothing that they bring is built.
        .package(
            path: "../../../..",
            traits: ["ConfigurationSupport", "HTTPClientSupport", "HummingbirdSupport", "TLSSupport"]),
        .package(url: "https://github.com/apple/swift-certificates.git", from: "1.15.0"),
        .package(url: "https://github.com/vapor/jwt-kit.git", from: "5.2.0"),
    ],
    targets: [
        .target(name: "Tokens", dependencies: [certificates, tokens]),
        .executableTarget(
            name: "AliasesSecurity",
            dependencies: [
                "Tokens",
                .product(
                    name: "Security", package: keychain, moduleAliases: ["Security": "KeychainSecurity"]),
            ]),
        .executableTarget(
            name: "UsesKeychain",
            dependencies: ["Tokens", .product(name: "KeychainServices", package: keychain)]),
        .executableTarget(name: "UsesNothing", dependencies: ["Tokens"]),
    ]
)
