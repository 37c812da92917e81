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
    in house: String? = nil,
    _ dependencies: [Target.Dependency] = [],
    at path: String? = nil,
    exclude: [String] = []
) -> Target {
    .target(
        name: name,
        dependencies: dependencies,
        path: path ?? ["Modules", house, name].compactMap { $0 }.joined(separator: "/"),
        exclude: exclude,
        swiftSettings: strict
    )
}

let nioTLS = Target.Dependency.product(name: "NIOTLS", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
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
    ],
    targets: [
        module("JSONText", in: "Values"),
        module("TLCP", in: "Client", ["JSONText"]),
        module("Primitives", in: "Values"),
        module("StreamIO", in: "Gateway", ["Primitives"]),
        module(
            "SessionCore",
            in: "Client",
            ["TLCP", "JSONText", "Primitives", .product(name: "DequeModule", package: "swift-collections")]
        ),
        module("Changes", in: "Gateway", ["SessionCore", "JSONText"]),
        module(
            "EventHub",
            in: "Gateway",
            [
                "Changes", "SessionCore", "StreamIO", "Primitives", "JSONText", "CZlib",
                .product(name: "HeapModule", package: "swift-collections"),
            ]
        ),
        .systemLibrary(name: "CZlib", path: "Modules/Gateway/CZlib", pkgConfig: "zlib"),
        module("DemoServer", ["TLCP", "JSONText", "Primitives", logging] + nioProducts + collections),
        // The gateway with everything that it needs.
        module("TLCPTransports", in: "Client", ["TLCP", nioTLS, nioSSL] + nioProducts),
        module("LightstreamerClient", in: "Client", ["TLCP", "SessionCore", "Primitives", "TLCPTransports", logging]),
        module(
            "SessionPool",
            in: "Gateway",
            [
                "Changes", "JSONText", "SessionCore", "Primitives", "LightstreamerClient", logging,
                .product(name: "OrderedCollections", package: "swift-collections"),
            ]
        ),
        module("Replication", in: "Cluster", ["Changes", "SessionCore", "Primitives", "JSONText"]),
        .systemLibrary(name: "CNATS", path: "Modules/Cluster/CNATS", pkgConfig: "libnats"),
        module("EngineNATS", in: "Cluster", ["CNATS", "Replication", "JSONText"]),
        .systemLibrary(name: "CMicroHTTPD", path: "Modules/Gateway/CMicroHTTPD", pkgConfig: "libmicrohttpd"),
        .systemLibrary(name: "CGnuTLS", path: "Modules/Gateway/CGnuTLS", pkgConfig: "gnutls"),
        module("MicroHTTPD", in: "Gateway", ["StreamIO", "Primitives", "CMicroHTTPD", "CGnuTLS"]),
        .systemLibrary(name: "CCrypto", path: "Modules/Gateway/CCrypto", pkgConfig: "libcrypto"),
        module("Cryptography", in: "Gateway", ["CCrypto"]),
        .systemLibrary(name: "CYAML", path: "Modules/Gateway/CYAML", pkgConfig: "yaml-0.1"),
        module("YAMLText", in: "Gateway", ["CYAML"]),
        .target(name: "CGatewayFiles", path: "Modules/Gateway/CGatewayFiles", linkerSettings: [.linkedLibrary("z")]),
        module("HTTPFetch", in: "Gateway", [nioSSL] + nioProducts),
        module("GatewayStreaming", in: "Gateway", ["Changes", "EventHub", "MicroHTTPD", "StreamIO"]),
        module(
            "Gateway",
            in: "Gateway",
            [
                "Changes", "JSONText", "SessionCore", "LightstreamerClient", "SessionPool", "EventHub", "StreamIO",
                "Primitives",
                "GatewayStreaming", "MicroHTTPD", "HTTPFetch", "CGatewayFiles", "YAMLText", "Cryptography", logging,
            ],
            exclude: ["Resources"]
        ),
        module(
            "GatewayCluster",
            in: "Cluster",
            [
                "Changes", "Gateway", "Replication", "EngineNATS", "EventHub", "GatewayStreaming", "JSONText",
                "MicroHTTPD", "Cryptography", "LightstreamerClient", "Primitives", "SessionCore", "SessionPool",
                "StreamIO", logging,
            ]
        ),
        module("Recording", ["CZlib", "JSONText", "Primitives"]),
        module("TestSupport", ["Changes", "SessionCore", "Primitives"], at: "TestSupport"),
        .target(name: "CFuzzerMain", cSettings: [.treatAllWarnings(as: .error)]),
        .executableTarget(
            name: "Fuzzers",
            dependencies: [
                "CFuzzerMain", "Changes", "JSONText", "TLCP", "SessionCore", "EventHub", "DemoServer", "TestSupport",
                "StreamIO",
                "Primitives",
                "MicroHTTPD", "Gateway", "GatewayCluster", "Replication", "Recording", "Cryptography",
            ],
            swiftSettings: strict,
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])]
        ),
    ]
)
