// swift-tools-version: 6.2
import PackageDescription

let client = Target.Dependency.product(name: "LightstreamerClient", package: "lightstreamer-gateway")

let package = Package(
    name: "library-example",
    platforms: [.macOS(.v15), .iOS(.v18)],
    dependencies: [
        .package(name: "lightstreamer-gateway", path: "../.."),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
    ],
    targets: [
        .executableTarget(name: "Quotes", dependencies: [client]),
        .executableTarget(
            name: "QuoteServer",
            dependencies: [
                client,
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),
        .testTarget(
            name: "ExampleTests",
            dependencies: [
                "Quotes", "QuoteServer", client,
                .product(name: "LightstreamerTesting", package: "lightstreamer-gateway"),
            ]
        ),
    ]
)
