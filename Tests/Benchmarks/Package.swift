// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that the tools that measure never become dependencies of the product. `Modules` is a link to
// the sources of the outer package: compiled here, they can be used with `package` access.

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .treatAllWarnings(as: .error),
]

/// A module of the outer package.
func module(_ name: String, in house: String? = nil, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(
        name: name,
        dependencies: dependencies,
        path: ["Modules", house, name].compactMap { $0 }.joined(separator: "/"),
        swiftSettings: strict
    )
}

let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-collections.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
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
        .systemLibrary(
            name: "CZlib",
            path: "Modules/Gateway/CZlib",
            pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"])]
        ),
        .systemLibrary(
            name: "CMicroHTTPD",
            path: "Modules/Gateway/CMicroHTTPD",
            pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev"])]
        ),
        .systemLibrary(
            name: "CGnuTLS",
            path: "Modules/Gateway/CGnuTLS",
            pkgConfig: "gnutls",
            providers: [.apt(["libgnutls28-dev"])]
        ),
        module("MicroHTTPD", in: "Gateway", ["StreamIO", "Primitives", "CMicroHTTPD", "CGnuTLS"]),
        module("GatewayStreaming", in: "Gateway", ["Changes", "EventHub", "StreamIO", "MicroHTTPD"]),

        .executableTarget(
            name: "HubServer",
            dependencies: ["Changes", "EventHub", "GatewayStreaming", "MicroHTTPD", "SessionCore", "StreamIO"],
            swiftSettings: strict
        ),
        .executableTarget(name: "BareSender", cSettings: [.treatAllWarnings(as: .error)]),
        .executableTarget(
            name: "BareResponder",
            dependencies: ["CMicroHTTPD"],
            cSettings: [.treatAllWarnings(as: .error)]
        ),
        .executableTarget(
            name: "LoadGenerator",
            cSettings: [.treatAllWarnings(as: .error)],
            linkerSettings: [.linkedLibrary("gnutls"), .linkedLibrary("z")]
        ),
        .executableTarget(name: "BareRelay", cSettings: [.treatAllWarnings(as: .error)]),
        .executableTarget(name: "LineSender", cSettings: [.treatAllWarnings(as: .error)]),
        .target(name: "AllocationCounter", cSettings: [.treatAllWarnings(as: .error)]),
        .executableTarget(
            name: "IngestStages",
            dependencies: ["AllocationCounter", "Changes", "EventHub", "SessionCore", "StreamIO", "TLCP"],
            swiftSettings: strict
        ),

        module(
            "DemoServer",
            [
                "TLCP", "JSONText", "Primitives",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
            ]
        ),
        .executableTarget(name: "DemoSource", dependencies: ["DemoServer"], swiftSettings: strict),
    ]
)
