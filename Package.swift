// swift-tools-version: 6.2
import PackageDescription

// Targets stand in the order in which an update walks through them; a target imports only what is written here.

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .treatAllWarnings(as: .error),
]

let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioWebSocket = Target.Dependency.product(name: "NIOWebSocket", package: "swift-nio")
let nioTLS = Target.Dependency.product(name: "NIOTLS", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let dequeModule = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let heapModule = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
let asyncHTTPClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")

let package = Package(
    name: "lightstreamer-gateway",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "LightstreamerClient", targets: ["LightstreamerClient"]),
        .executable(name: "lightstreamer-gateway", targets: ["GatewayCLI"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-collections.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
        .package(url: "https://github.com/vapor/jwt-kit.git", from: "5.7.1"),
        .package(url: "https://github.com/apple/swift-configuration.git", from: "1.4.0", traits: []),
        .package(url: "https://github.com/jpsim/Yams.git", from: "6.2.2"),
    ],
    targets: [
        .target(
            name: "TLCPTransports",
            dependencies: ["TLCP", nioCore, nioPosix, nioHTTP1, nioWebSocket, nioTLS, nioSSL, crypto],
            swiftSettings: strict
        ),
        .target(name: "JSONText", swiftSettings: strict),
        .target(name: "TLCP", dependencies: ["JSONText"], swiftSettings: strict),
        .target(
            name: "SessionCore",
            dependencies: ["TLCP", "JSONText", "StreamIO", dequeModule],
            swiftSettings: strict
        ),
        .target(
            name: "LightstreamerClient",
            dependencies: ["TLCP", "SessionCore", "StreamIO", "TLCPTransports", logging],
            swiftSettings: strict
        ),
        .target(
            name: "SessionPool",
            dependencies: ["JSONText", "SessionCore", "StreamIO", "LightstreamerClient", logging],
            swiftSettings: strict
        ),
        .target(
            name: "EventHub",
            dependencies: ["SessionCore", "StreamIO", "JSONText", heapModule],
            swiftSettings: strict
        ),
        .target(name: "StreamIO", swiftSettings: strict),
        .target(
            name: "Replication",
            dependencies: ["SessionCore", "StreamIO", "JSONText", "EventHub"],
            swiftSettings: strict
        ),
        .target(name: "NATSLink", dependencies: ["CNATS", "Replication", "JSONText"], swiftSettings: strict),
        .systemLibrary(name: "CNATS", pkgConfig: "libnats", providers: [.apt(["libnats-dev"])]),
        .target(
            name: "Gateway",
            dependencies: [
                "JSONText", "SessionCore", "LightstreamerClient", "SessionPool", "EventHub", "StreamIO", "Replication",
                "NATSLink", "MicroHTTPD", "CGatewayFiles", logging, nioCore, asyncHTTPClient, heapModule,
                .product(name: "Configuration", package: "swift-configuration"),
                crypto,
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "Yams", package: "Yams"),
            ],
            exclude: ["Resources"],
            swiftSettings: strict
        ),
        .target(
            name: "CGatewayFiles",
            cSettings: [.treatAllWarnings(as: .error)],
            linkerSettings: [.linkedLibrary("z")]
        ),
        .target(name: "MicroHTTPD", dependencies: ["StreamIO", "CMicroHTTPD", "CGnuTLS"], swiftSettings: strict),
        .systemLibrary(
            name: "CMicroHTTPD",
            pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev"])]
        ),
        .systemLibrary(name: "CGnuTLS", pkgConfig: "gnutls", providers: [.apt(["libgnutls28-dev"])]),
        .target(
            name: "DemoServer",
            dependencies: [
                "TLCP", "JSONText", "StreamIO", nioCore, nioPosix, nioHTTP1, nioWebSocket, logging, dequeModule,
                heapModule,
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "GatewayCLI",
            dependencies: [
                "Gateway", "DemoServer", "LightstreamerClient", "SessionCore", "JSONText", logging, nioCore, nioSSL,
                asyncHTTPClient,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),
        // Tests, in the same order; `TestSupport` is what several of them share.
        .target(
            name: "TestSupport",
            dependencies: ["SessionCore", "StreamIO"],
            path: "Tests/TestSupport",
            swiftSettings: strict
        ),
        .testTarget(name: "JSONTextTests", dependencies: ["JSONText", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "TLCPTests", dependencies: ["TLCP", "JSONText", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "SessionCoreTests",
            dependencies: ["SessionCore", "TLCP", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "TLCPTransportsTests",
            dependencies: ["TLCPTransports", "TLCP", nioCore, nioPosix, nioEmbedded, nioSSL, crypto],
            swiftSettings: strict
        ),
        .testTarget(
            name: "LightstreamerClientTests",
            dependencies: ["LightstreamerClient", "SessionCore", "TLCP", "TLCPTransports", "DemoServer", logging],
            swiftSettings: strict
        ),
        .testTarget(
            name: "SessionPoolTests",
            dependencies: ["SessionPool", "LightstreamerClient", "SessionCore", "TestSupport", logging],
            swiftSettings: strict
        ),
        .testTarget(
            name: "EventHubTests",
            dependencies: ["EventHub", "StreamIO", "JSONText", "SessionCore", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(name: "StreamIOTests", dependencies: ["StreamIO"], swiftSettings: strict),
        .testTarget(
            name: "MicroHTTPDTests",
            dependencies: ["MicroHTTPD", "StreamIO", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ReplicationTests",
            dependencies: ["Replication", "EventHub", "JSONText", "SessionCore", "StreamIO", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(name: "NATSLinkTests", dependencies: ["NATSLink", "Replication"], swiftSettings: strict),
        .testTarget(
            name: "GatewayTests",
            dependencies: [
                "Gateway", "EventHub", "JSONText", "LightstreamerClient", "MicroHTTPD", "Replication", "SessionCore",
                "SessionPool",
                "StreamIO", "TestSupport", logging,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "DemoServerTests",
            dependencies: ["DemoServer", "StreamIO", "TLCP", nioCore, nioPosix],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ConversationTests",
            dependencies: ["SessionCore", "TLCP", "DemoServer", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ContractTests",
            dependencies: [
                "Gateway", "LightstreamerClient", "EventHub", "JSONText", "SessionCore", "SessionPool", logging,
                .product(name: "Yams", package: "Yams"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "GatewayCLITests",
            dependencies: ["GatewayCLI", "JSONText", "LightstreamerClient"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "GatewayCLI", "Gateway", "LightstreamerClient", "SessionPool", "SessionCore", "DemoServer", "JSONText",
                "TestSupport", logging,
                asyncHTTPClient,
                nioCore, nioSSL,
            ],
            swiftSettings: strict
        ),
    ]
)
