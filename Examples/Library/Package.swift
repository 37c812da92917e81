// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "library-example",
    platforms: [.macOS(.v15), .iOS(.v18)],
    dependencies: [.package(name: "lightstreamer-gateway", path: "../..")],
    targets: [
        .executableTarget(
            name: "Quotes",
            dependencies: [.product(name: "LightstreamerClient", package: "lightstreamer-gateway")]
        )
    ]
)
