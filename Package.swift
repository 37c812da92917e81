// swift-tools-version: 6.2
import PackageDescription

// Three houses and the far end of the wire: `Client`, `Gateway`, `Cluster` and `DemoServer`. Targets of a house stand in the
// order in which an update walks through them; a target imports only what is written here.

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
let dequeModule = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let heapModule = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
let orderedCollections = Target.Dependency.product(name: "OrderedCollections", package: "swift-collections")

/// A product that only the gateway uses: without the trait its package is not resolved.
func gatewayProduct(_ name: String, package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: ["Gateway"]))
}

/// A product that the library uses with a trait.
func ecosystemProduct(_ name: String, package: String, trait: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: [trait]))
}

let serviceLifecycle = ecosystemProduct(
    "ServiceLifecycle",
    package: "swift-service-lifecycle",
    trait: "ServiceLifecycleSupport"
)
let metrics = ecosystemProduct("CoreMetrics", package: "swift-metrics", trait: "MetricsSupport")
let tracing = ecosystemProduct("Tracing", package: "swift-distributed-tracing", trait: "DistributedTracingSupport")

/// A module in the folder of its house; outside of the houses if there is none.
func module(
    _ name: String,
    in house: String? = nil,
    _ dependencies: [Target.Dependency] = [],
    exclude: [String] = []
) -> Target {
    .target(
        name: name,
        dependencies: dependencies,
        path: ["Sources", house, name].compactMap { $0 }.joined(separator: "/"),
        exclude: exclude,
        swiftSettings: strict
    )
}

/// The tests of a module, in the folder of the same house.
func tests(_ name: String, in house: String? = nil, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: name,
        dependencies: dependencies,
        path: ["Tests", house, name].compactMap { $0 }.joined(separator: "/"),
        swiftSettings: strict
    )
}

/// A C library of Debian.
func library(_ name: String, in house: String, pkgConfig: String, package: String) -> Target {
    .systemLibrary(name: name, path: "Sources/\(house)/\(name)", pkgConfig: pkgConfig, providers: [.apt([package])])
}

let values: [Target] = [
    module("Primitives", in: "Values"),
    module("JSONText", in: "Values"),
]

let client: [Target] = [
    module(
        "TLCPTransports",
        in: "Client",
        ["TLCP", "Primitives", nioCore, nioPosix, nioHTTP1, nioWebSocket, nioTLS, nioSSL]
    ),
    module("TLCP", in: "Client", ["JSONText", "Primitives"]),
    module("SessionCore", in: "Client", ["TLCP", "JSONText", "Primitives", dequeModule]),
    module(
        "LightstreamerClient",
        in: "Client",
        [
            "TLCP", "SessionCore", "Primitives", "TLCPTransports", logging, dequeModule, serviceLifecycle, metrics,
            tracing,
        ]
    ),
]

let gateway: [Target] = [
    module(
        "SessionPool",
        in: "Gateway",
        ["Changes", "JSONText", "SessionCore", "Primitives", "LightstreamerClient", logging, orderedCollections]
    ),
    module("Changes", in: "Gateway", ["SessionCore", "Primitives", "JSONText"]),
    module(
        "EventHub",
        in: "Gateway",
        ["Changes", "SessionCore", "StreamIO", "Primitives", "JSONText", "CZlib", heapModule]
    ),
    library("CZlib", in: "Gateway", pkgConfig: "zlib", package: "zlib1g-dev"),
    module("StreamIO", in: "Gateway", ["Primitives"]),
    module("MicroHTTPD", in: "Gateway", ["StreamIO", "Primitives", "CMicroHTTPD", "CGnuTLS"]),
    library("CMicroHTTPD", in: "Gateway", pkgConfig: "libmicrohttpd", package: "libmicrohttpd-dev"),
    library("CGnuTLS", in: "Gateway", pkgConfig: "gnutls", package: "libgnutls28-dev"),
    module("Cryptography", in: "Gateway", ["CCrypto"]),
    library("CCrypto", in: "Gateway", pkgConfig: "libcrypto", package: "libssl-dev"),
    module("YAMLText", in: "Gateway", ["CYAML"]),
    library("CYAML", in: "Gateway", pkgConfig: "yaml-0.1", package: "libyaml-dev"),
    module("HTTPFetch", in: "Gateway", [nioCore, nioPosix, nioHTTP1, nioSSL]),
    module("GatewayStreaming", in: "Gateway", ["Changes", "EventHub", "MicroHTTPD", "Primitives", "StreamIO"]),
    module(
        "Gateway",
        in: "Gateway",
        [
            "Changes", "JSONText", "SessionCore", "LightstreamerClient", "SessionPool", "EventHub", "StreamIO",
            "Primitives",
            "GatewayStreaming", "MicroHTTPD", "HTTPFetch", "CGatewayFiles", "YAMLText", logging, dequeModule,
            "Cryptography", heapModule,
        ],
        exclude: ["Resources"]
    ),
    .target(
        name: "CGatewayFiles",
        path: "Sources/Gateway/CGatewayFiles",
        cSettings: [.treatAllWarnings(as: .error)],
        linkerSettings: [.linkedLibrary("z")]
    ),
]

let cluster: [Target] = [
    module("Replication", in: "Cluster", ["Changes", "SessionCore", "Primitives", "JSONText"]),
    module("EngineNATS", in: "Cluster", ["CNATS", "Replication", "JSONText", "Primitives"]),
    module(
        "GatewayCluster",
        in: "Cluster",
        [
            "Changes", "Gateway", "Replication", "EngineNATS", "EventHub", "GatewayStreaming", "JSONText", "MicroHTTPD",
            "Cryptography", "LightstreamerClient", "Primitives", "SessionCore", "SessionPool", "StreamIO", logging,
        ]
    ),
    library("CNATS", in: "Cluster", pkgConfig: "libnats", package: "libnats-dev"),
]

let programs: [Target] = [
    module("Recording", ["CZlib", "JSONText", "Primitives"]),
    module(
        "DemoServer",
        [
            "TLCP", "JSONText", "Primitives", nioCore, nioPosix, nioHTTP1, nioWebSocket, logging, dequeModule,
            heapModule,
        ],
        exclude: ["README.md"]
    ),
    module("LightstreamerTesting", ["DemoServer", "LightstreamerClient", "Primitives", logging]),
    .executableTarget(
        name: "GatewayCLI",
        dependencies: [
            "Gateway", "GatewayCluster", "DemoServer", "Recording", "LightstreamerClient", "SessionCore", "SessionPool",
            "HTTPFetch", "JSONText", "Primitives", "TLCP",
            logging, nioCore, nioHTTP1, nioPosix, nioSSL,
            gatewayProduct("ArgumentParser", package: "swift-argument-parser"),
            gatewayProduct("ServiceLifecycle", package: "swift-service-lifecycle"),
        ],
        exclude: ["README.md"],
        swiftSettings: strict
    ),
]

/// In the same houses; `TestSupport` is what several of them share.
let allTests: [Target] = [
    .target(
        name: "TestSupport",
        dependencies: ["Changes", "SessionCore", "Primitives", "CCrypto", "CZlib"],
        path: "Tests/TestSupport",
        swiftSettings: strict
    ),
    tests("JSONTextTests", in: "Values", ["JSONText", "TestSupport"]),
    tests("TLCPTests", in: "Client", ["TLCP", "JSONText", "TestSupport"]),
    tests("SessionCoreTests", in: "Client", ["SessionCore", "TLCP", "Primitives", "TestSupport"]),
    tests(
        "TLCPTransportsTests",
        in: "Client",
        [
            "TLCPTransports", "TLCP", "Primitives", "CCrypto", nioCore, nioPosix, nioEmbedded, nioWebSocket, nioSSL,
        ]
    ),
    tests(
        "LightstreamerClientTests",
        in: "Client",
        [
            "LightstreamerClient", "LightstreamerTesting", "SessionCore", "TLCP", "TLCPTransports", "DemoServer",
            logging, tracing,
            gatewayProduct("ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
            gatewayProduct("MetricsTestKit", package: "swift-metrics"),
            gatewayProduct("InMemoryTracing", package: "swift-distributed-tracing"),
        ]
    ),
    tests("ConversationTests", in: "Client", ["SessionCore", "TLCP", "DemoServer", "TestSupport"]),
    tests(
        "SessionPoolTests",
        in: "Gateway",
        [
            "Changes", "SessionPool", "LightstreamerClient", "JSONText", "Primitives", "SessionCore", "TestSupport",
            logging,
        ]
    ),
    tests(
        "EventHubTests",
        in: "Gateway",
        ["Changes", "EventHub", "StreamIO", "Primitives", "JSONText", "SessionCore", "CZlib", "TestSupport"]
    ),
    tests("CryptographyTests", in: "Gateway", ["Cryptography", "TLCPTransports", "TestSupport"]),
    tests("YAMLTextTests", in: "Gateway", ["YAMLText"]),
    tests("StreamIOTests", in: "Gateway", ["StreamIO"]),
    tests("MicroHTTPDTests", in: "Gateway", ["MicroHTTPD", "StreamIO", "Primitives", "TestSupport"]),
    tests(
        "GatewayTests",
        in: "Gateway",
        [
            "Changes", "Gateway", "GatewayCluster", "GatewayStreaming", "EventHub", "HTTPFetch", "JSONText",
            "LightstreamerClient", "MicroHTTPD",
            "Primitives",
            "Cryptography", "Replication", "SessionCore", "SessionPool", "StreamIO", "TestSupport", logging,
        ]
    ),
    tests(
        "ContractTests",
        in: "Gateway",
        [
            "Changes", "Gateway", "LightstreamerClient", "EventHub", "JSONText", "Primitives", "SessionCore",
            "SessionPool",
            logging, gatewayProduct("Yams", package: "Yams"),
        ]
    ),
    tests(
        "ReplicationTests",
        in: "Cluster",
        ["Changes", "Replication", "JSONText", "Primitives", "SessionCore", "TestSupport"]
    ),
    .target(name: "CSimulation", path: "Tests/Cluster/CSimulation"),
    tests(
        "SimulationTests",
        in: "Cluster",
        [
            "CSimulation", "DemoServer", "EventHub", "Gateway", "GatewayCluster", "GatewayStreaming", "JSONText",
            "LightstreamerClient", "MicroHTTPD", "Primitives", "Replication", "SessionCore", "SessionPool", "StreamIO",
            "TLCP", "TLCPTransports", "TestSupport", heapModule, logging, nioCore,
        ]
    ),
    tests("RecordingTests", ["Recording", "DemoServer", "Primitives", "TestSupport"]),
    tests("EngineNATSTests", in: "Cluster", ["CNATS", "EngineNATS", "Replication", nioCore, nioPosix]),
    tests("DemoServerTests", ["DemoServer", "Primitives", "TLCP", nioCore, nioPosix]),
    tests("LightstreamerTestingTests", ["LightstreamerTesting", "LightstreamerClient", "Primitives"]),
    tests(
        "GatewayCLITests",
        ["GatewayCLI", "DemoServer", "Recording", "JSONText", "LightstreamerClient", "SessionCore", logging, nioCore]
    ),
    tests(
        "EndToEndTests",
        [
            "GatewayCLI", "Gateway", "LightstreamerClient", "LightstreamerTesting", "SessionPool", "SessionCore",
            "DemoServer", "JSONText",
            "TestSupport", logging, nioCore, nioPosix, nioHTTP1, nioSSL, serviceLifecycle, metrics,
        ]
    ),
]

let package = Package(
    name: "lightstreamer-gateway",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "LightstreamerClient", targets: ["LightstreamerClient"]),
        .library(name: "LightstreamerTesting", targets: ["LightstreamerTesting"]),
        .executable(name: "lightstreamer-gateway", targets: ["GatewayCLI"]),
    ],
    traits: [
        .default(
            enabledTraits: ["Gateway", "ServiceLifecycleSupport", "MetricsSupport", "DistributedTracingSupport"]
        ),
        .trait(name: "Gateway", description: "The packages of the gateway; disabled by users of the library alone"),
        .trait(name: "ServiceLifecycleSupport", description: "A client is a Service of swift-service-lifecycle"),
        .trait(name: "MetricsSupport", description: "A client reports its events to swift-metrics"),
        .trait(
            name: "DistributedTracingSupport",
            description: "Calls that wait have spans of swift-distributed-tracing"
        ),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-collections.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.7.3"),
        .package(url: "https://github.com/jpsim/Yams.git", from: "6.2.2"),
    ],
    targets: values + client + gateway + cluster + programs + allTests
)
