// swift-tools-version: 6.2
import PackageDescription

// A program that says `import Security`, beside packages that test for Apple's framework of that name.
// X509 is compiled against our module in some builds and not in others, so every program that links
// it has to link the product `Security` too.
let certificates = Target.Dependency.product(name: "X509", package: "swift-certificates")
let tokens = Target.Dependency.product(name: "JWTKit", package: "jwt-kit")
// A program for Apple's systems too asks for the product on Linux alone.
let security = Target.Dependency.product(
    name: "Security", package: "swift-keychain", condition: .when(platforms: [.linux]))
let commonCrypto = Target.Dependency.product(name: "CommonCrypto", package: "swift-keychain")

let package = Package(
    name: "WithSecurity",
    dependencies: [
        // The traits of Examples/Friendvatars, whose build folder this shares. Nothing that they bring is built.
        .package(
            name: "swift-keychain", path: "../../../..",
            traits: ["ConfigurationSupport", "HTTPClientSupport", "HummingbirdSupport", "TLSSupport"]),
        .package(url: "https://github.com/apple/swift-certificates.git", from: "1.15.0"),
        .package(url: "https://github.com/vapor/jwt-kit.git", from: "5.2.0"),
    ],
    targets: [
        .target(name: "Tokens", dependencies: [certificates, tokens]),
        .executableTarget(name: "ImportsSecurity", dependencies: ["Tokens", commonCrypto, security]),
        .executableTarget(name: "UsesCertificates", dependencies: ["Tokens", security]),
    ]
)
