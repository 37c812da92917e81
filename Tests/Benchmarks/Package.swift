// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that what is measured and what measures never reach the other one. `Rooms` is a link to the
// sources of the outer package: compiled in here, they can be used with `package` access.
//
// What the fan-out needs stands first and has no dependencies; only `DemoSource` needs SwiftNIO.

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .treatAllWarnings(as: .error),
]

/// A room of the outer package.
func room(_ name: String, _ dependencies: [Target.Dependency] = [], at path: String? = nil) -> Target {
    .target(name: name, dependencies: dependencies, path: "Rooms/\(path ?? name)", swiftSettings: strict)
}

let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
    ],
    targets: [
        room("JSONText"),
        room("TLCP", ["JSONText"]),
        room("StreamIO"),
        room("SessionCore", ["TLCP", "JSONText", "StreamIO"]),
        room("EventHub", ["SessionCore", "StreamIO", "JSONText"]),
        .systemLibrary(
            name: "CMicroHTTPD",
            path: "Rooms/CMicroHTTPD",
            pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev"])]
        ),
        room("MicroHTTPD", ["StreamIO", "CMicroHTTPD"]),
        room("GatewayStreaming", ["EventHub", "StreamIO", "MicroHTTPD"], at: "Gateway/Streaming"),

        .executableTarget(
            name: "HubServer",
            dependencies: ["EventHub", "GatewayStreaming", "MicroHTTPD", "SessionCore"],
            swiftSettings: strict
        ),
        .executableTarget(name: "BareSender", cSettings: [.treatAllWarnings(as: .error)]),
        .executableTarget(name: "LoadGenerator", cSettings: [.treatAllWarnings(as: .error)]),
        .executableTarget(name: "LineSender", cSettings: [.treatAllWarnings(as: .error)]),

        room(
            "DemoServer",
            [
                "TLCP", "JSONText",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .executableTarget(name: "DemoSource", dependencies: ["DemoServer"], swiftSettings: strict),
    ]
)
