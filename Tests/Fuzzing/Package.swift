// swift-tools-version: 6.2
import PackageDescription

// A separate package, because the sanitizer flags must not reach the package that it tests. `Modules` links to the
// sources of the outer package: compiled in here, they are instrumented, and accessible with `package` access.

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .treatAllWarnings(as: .error),
    // libFuzzer reads the coverage of these targets. Testing access reaches the internal readers.
    .unsafeFlags(["-sanitize=fuzzer", "-parse-as-library", "-enable-testing"]),
]

/// A target of the outer package.
func module(
    _ name: String,
    _ dependencies: [Target.Dependency] = [],
    at path: String? = nil,
    exclude: [String] = []
) -> Target {
    .target(
        name: name,
        dependencies: dependencies,
        path: path ?? "Modules/\(name)",
        exclude: exclude,
        swiftSettings: strict
    )
}

let nioTLS = Target.Dependency.product(name: "NIOTLS", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

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
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.6"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
        .package(url: "https://github.com/vapor/jwt-kit.git", from: "5.7.1"),
        .package(url: "https://github.com/apple/swift-configuration.git", from: "1.4.0", traits: []),
        .package(url: "https://github.com/jpsim/Yams.git", from: "6.2.2"),
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
        module("DemoServer", ["TLCP", "JSONText", "StreamIO", logging] + nioProducts + collections),
        // The gateway with everything that it needs.
        module("TLCPTransports", ["TLCP", nioTLS, nioSSL, crypto] + nioProducts),
        module("LightstreamerClient", ["TLCP", "SessionCore", "StreamIO", "TLCPTransports", logging]),
        module("SessionPool", ["JSONText", "SessionCore", "StreamIO", "LightstreamerClient", logging]),
        module("Replication", ["SessionCore", "StreamIO", "JSONText", "EventHub"]),
        .systemLibrary(name: "CNATS", path: "Modules/CNATS", pkgConfig: "libnats"),
        module("NATSLink", ["CNATS", "Replication", "JSONText"]),
        .systemLibrary(name: "CMicroHTTPD", path: "Modules/CMicroHTTPD", pkgConfig: "libmicrohttpd"),
        .systemLibrary(name: "CGnuTLS", path: "Modules/CGnuTLS", pkgConfig: "gnutls"),
        module("MicroHTTPD", ["StreamIO", "CMicroHTTPD", "CGnuTLS"]),
        .target(name: "CGatewayFiles", path: "Modules/CGatewayFiles", linkerSettings: [.linkedLibrary("z")]),
        module(
            "Gateway",
            [
                "JSONText", "SessionCore", "LightstreamerClient", "SessionPool", "EventHub", "StreamIO", "Replication",
                "NATSLink", "MicroHTTPD", "CGatewayFiles", logging, crypto,
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "Yams", package: "Yams"),
            ],
            exclude: ["Resources"]
        ),
        module("TestSupport", ["SessionCore", "StreamIO"], at: "TestSupport"),
        .target(name: "CFuzzerMain", cSettings: [.treatAllWarnings(as: .error)]),
        .executableTarget(
            name: "Fuzzers",
            dependencies: [
                "CFuzzerMain", "JSONText", "TLCP", "SessionCore", "EventHub", "DemoServer", "TestSupport", "StreamIO",
                "MicroHTTPD", "Gateway", crypto,
            ],
            swiftSettings: strict,
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])]
        ),
    ]
)
