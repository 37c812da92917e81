internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Primitives

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif
#if canImport(Glibc)
    internal import Glibc
#endif

/// Listens on the port, and adds the handlers of every connection.
struct Listener: Sendable {
    let configuration: DemoServerConfiguration
    /// Receives the events of connections.
    let logger: Logger

    /// Listens and serves until the task is cancelled; the runtime is notified when the server listens.
    func run(on runtime: ServerRuntime) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            try await serve(on: group.next(), runtime)
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
        try await group.shutdownGracefully()
    }

    private func serve(on loop: any EventLoop, _ runtime: ServerRuntime) async throws {
        let (configuration, logger) = (configuration, logger)
        let driver = try await loop.submit {
            let clockStart = Int64(Date().timeIntervalSince1970 * 1_000)
            return NIOLoopBound(
                ServerDriver(configuration, clockStart: clockStart, loop: loop, logger: logger),
                eventLoop: loop
            )
        }.get()
        let channel = try await bind(on: loop, driver)
        guard let port = channel.localAddress?.port else {
            try await channel.close()
            throw DemoServerError.cannotListen(reason: "no port")
        }
        logger.debug("listening", metadata: ["host": "\(configuration.host)", "port": "\(port)"])
        runtime.listens(on: port, driver)
        try await withTaskCancellationHandler {
            try await channel.closeFuture.get()
        } onCancel: {
            loop.execute {
                driver.value.shutDown()
                channel.close(promise: nil)
            }
        }
    }

    private func bind(on loop: any EventLoop, _ driver: NIOLoopBound<ServerDriver>) async throws -> any Channel {
        let mark = ChannelOptions.Types.WriteBufferWaterMark(
            low: configuration.limits.writeBuffer / 2,
            high: configuration.limits.writeBuffer
        )
        var bootstrap = ServerBootstrap(group: loop)
            .serverChannelOption(.backlog, value: 1_024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.socketOption(.so_keepalive), value: 1)
            .childChannelOption(.writeBufferWaterMark, value: mark)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try Listener.addHandlers(channel, driver.value) }
            }
        #if os(Linux)
            // TCP_USER_TIMEOUT: a connection breaks after this time without acknowledgement of the peer.
            let timeout = min(configuration.timings.stuckWrite.wholeMilliseconds, Int(Int32.max))
            bootstrap = bootstrap.childChannelOption(.tcpOption(NIOBSDSocket.Option(rawValue: 18)), value: timeout)
        #endif
        do {
            return try await bootstrap.bind(host: configuration.host, port: configuration.port).get()
        } catch {
            throw DemoServerError.cannotListen(reason: Self.reason(of: error))
        }
    }

    /// The words of the system for an address that is not available.
    private static func reason(of error: any Error) -> String {
        switch error {
        case let error as SocketAddressError.UnknownHost: error.errorDescription
        case let error as IOError: String(cString: strerror(error.errnoCode))
        default: String(describing: error)
        }
    }

    /// Adds the handlers of a new connection; runs on the event loop.
    private static func addHandlers(_ channel: any Channel, _ driver: ServerDriver) throws {
        guard driver.accepted(channel) else { return channel.close(promise: nil) }
        let encoder = HTTPResponseEncoder()
        let decoder = ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes))
        let pipelining = HTTPServerPipelineHandler()
        let errors = HTTPServerProtocolErrorHandler()
        let switcher = WebSocketSwitch(driver: driver, handlers: [encoder, pipelining, errors], decoder: decoder)
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(encoder)
        try pipeline.addHandler(decoder)
        try pipeline.addHandler(pipelining)
        try pipeline.addHandler(errors)
        try pipeline.addHandler(HTTPExchangeHandler(driver: driver, switcher: switcher))
    }
}
