// swift-tools-version: 6.2
import PackageDescription

// What Core Data's protection options and ValueTransformers kept on an iPhone, with GRDB and the keychain.
let package = Package(
    name: "PersonalVault",
    dependencies: [
        .package(name: "swift-keychain", path: "../.."),
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.5.0"),
    ],
    targets: [
        .executableTarget(
            name: "PersonalVault",
            dependencies: [
                .product(name: "DataProtection", package: "swift-keychain"),
                .product(name: "Keychain", package: "swift-keychain"),
                .product(name: "KeychainServices", package: "swift-keychain"),
                .product(name: "ProtectedDatabase", package: "swift-keychain"),
                .product(name: "SealedFields", package: "swift-keychain"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ])
    ]
)
