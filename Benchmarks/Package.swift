// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "keychain-benchmarks",
    dependencies: [
        .package(name: "swift-keychain", path: ".."),
        // Without its malloc interposer, which needs further packages.
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
    ],
    targets: [
        .executableTarget(
            name: "SecItem",
            dependencies: [
                .product(name: "KeychainServices", package: "swift-keychain"),
                .product(name: "Benchmark", package: "benchmark"),
            ],
            path: "Benchmarks/SecItem",
            swiftSettings: [.swiftLanguageMode(.v6)],
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")])
    ]
)
