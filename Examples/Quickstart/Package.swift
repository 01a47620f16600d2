// swift-tools-version: 6.2
import PackageDescription

// One program for Linux and Apple's systems: its source says `import Security` on both. On Linux that is the product of
// this name, and on Apple's systems the framework.
let package = Package(
    name: "Quickstart",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "swift-keychain", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "Quickstart",
            dependencies: [
                .product(name: "Security", package: "swift-keychain", condition: .when(platforms: [.linux]))
            ])
    ]
)
