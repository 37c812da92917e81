// swift-tools-version: 6.2
import PackageDescription

// A separate package, because the sanitizer flags must not reach the package that it tests. `Modules` links to the sources
// of the outer package: compiled in here, they are instrumented, and accessible with `package` access.

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .treatAllWarnings(as: .error),
    // libFuzzer reads the coverage of these targets. Testing access reaches the internal readers.
    .unsafeFlags(["-sanitize=fuzzer", "-parse-as-library", "-enable-testing"]),
]

/// A target of the outer package.
func module(_ name: String, _ dependencies: [Target.Dependency] = [], at path: String? = nil) -> Target {
    .target(name: name, dependencies: dependencies, path: path ?? "Modules/\(name)", swiftSettings: strict)
}

let nioProducts: [Target.Dependency] = ["NIOCore", "NIOPosix", "NIOHTTP1", "NIOWebSocket"].map {
    .product(name: $0, package: "swift-nio")
}

let collections: [Target.Dependency] = ["DequeModule", "HeapModule"].map {
    .product(name: $0, package: "swift-collections")
}

let package = Package(
    name: "fuzzing",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-collections.git", from: "1.6.0"),
    ],
    targets: [
        module("JSONText"),
        module("TLCP", ["JSONText"]),
        module("StreamIO"),
        module(
            "SessionCore",
            ["TLCP", "JSONText", "StreamIO", .product(name: "DequeModule", package: "swift-collections")]
        ),
        module(
            "EventHub",
            ["SessionCore", "StreamIO", "JSONText", .product(name: "HeapModule", package: "swift-collections")]
        ),
        module(
            "DemoServer",
            ["TLCP", "JSONText", .product(name: "Logging", package: "swift-log")] + nioProducts + collections
        ),
        module("TestSupport", ["SessionCore", "StreamIO"], at: "TestSupport"),
        .target(name: "CFuzzerMain", cSettings: [.treatAllWarnings(as: .error)]),
        .executableTarget(
            name: "Fuzzers",
            dependencies: ["CFuzzerMain", "JSONText", "TLCP", "SessionCore", "EventHub", "DemoServer", "TestSupport"],
            swiftSettings: strict,
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])]
        ),
    ]
)
