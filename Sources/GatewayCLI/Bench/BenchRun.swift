internal import FoundationEssentials
internal import Glibc
internal import HTTPFetch
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL

/// Opens the streams of a benchmark, reads them for its time, and tells what they received.
struct BenchRun {
    /// The greatest number of connections that are being opened at a time.
    private static let opening = 64

    /// The address of the streams: `http` or `https`, with a host and a path.
    let url: URL
    let streams: Int
    let seconds: Int
    let timestampField: String?
    /// The API key or token that the requests carry.
    let credential: String?
    /// The longest time from the connection to the head of the response.
    var patience = TimeAmount.seconds(10)
    /// Returns when the benchmark has to end before its time; cancelled at that time.
    let interruption: @Sendable () async -> Void

    struct Connections: Sendable {
        var open: [any Channel] = []
        /// The number of streams that did not open, by the reason.
        var refusals: [String: Int] = [:]
    }

    /// Runs the benchmark until `seconds` after all streams are open, or its interruption; it ends at once if none opens.
    func report() async throws -> BenchReport {
        raiseFileLimit()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let tls = url.scheme == "https" ? try NIOSSLContext(configuration: .makeClientConfiguration()) : nil
        let ledger = try await loop.submit {
            NIOLoopBound(BenchLedger(isTimed: timestampField != nil), eventLoop: loop)
        }.get()
        let connections = await open(ledger, tls)
        let start = NIODeadline.now()
        let before = try await loop.submit { ledger.value.counts }.get()
        if !connections.open.isEmpty { await wait() }
        let report = try await loop.submit {
            BenchReport(ledger.value, connections, since: start, before: before)
        }.get()
        for channel in connections.open { channel.close(promise: nil) }
        try await group.shutdownGracefully()
        return report
    }

    private func wait() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await Task.sleep(for: .seconds(seconds)) }
            group.addTask { await interruption() }
            await group.next()
            group.cancelAll()
        }
    }

    private func open(_ ledger: NIOLoopBound<BenchLedger>, _ tls: NIOSSLContext?) async -> Connections {
        await withTaskGroup(of: Result<any Channel, any Error>.self) { group in
            var connections = Connections()
            for number in 0..<streams {
                if number >= Self.opening, let result = await group.next() { connections.add(result) }
                group.addTask { await connect(ledger, tls) }
            }
            for await result in group { connections.add(result) }
            return connections
        }
    }

    /// Opens one stream; its channel after the head of the stream.
    private func connect(
        _ ledger: NIOLoopBound<BenchLedger>,
        _ tls: NIOSSLContext?
    ) async -> Result<any Channel, any Error> {
        let opened = ledger.eventLoop.makePromise(of: Void.self)
        let bootstrap = ClientBootstrap(group: ledger.eventLoop).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                if let tls { try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: serverName)) }
                try pipeline.addHandler(BenchByteCounter(ledger.value))
                try pipeline.addHTTPClientHandlers()
                try pipeline.addHandler(
                    BenchStream(request, ledger: ledger.value, timestampField: timestampField, opened: opened)
                )
            }
        }
        do {
            let channel = try await bootstrap.connect(host: host, port: url.port ?? (tls == nil ? 80 : 443)).get()
            let deadline = channel.eventLoop.scheduleTask(in: patience) { opened.fail(WatchFailure("timeout")) }
            defer { deadline.cancel() }
            opened.futureResult.whenFailure { _ in channel.close(promise: nil) }
            try await opened.futureResult.get()
            return .success(channel)
        } catch {
            opened.fail(error)
            return .failure(error)
        }
    }

    /// The name that the certificate has to have; nil for an address, which no extension of TLS can carry.
    private var serverName: String? { (try? SocketAddress(ipAddress: host, port: 0)) == nil ? host : nil }

    /// The name or address of the server, without brackets.
    var host: String { encodedHost.hasPrefix("[") ? String(encodedHost.dropFirst().dropLast()) : encodedHost }

    var authority: String { encodedHost + (url.port.map { ":\($0)" } ?? "") }

    private var encodedHost: String {
        URLComponents(url: url, resolvingAgainstBaseURL: true)?.percentEncodedHost ?? ""
    }

    private var request: HTTPRequestHead {
        let parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
        let path = (parts?.percentEncodedPath ?? "/") + (parts?.percentEncodedQuery.map { "?\($0)" } ?? "")
        var headers: HTTPHeaders = ["Host": authority, "Accept": "text/event-stream"]
        if let credential { headers.add(name: "Authorization", value: "Bearer \(credential)") }
        return HTTPRequestHead(version: .http1_1, method: .GET, uri: path, headers: headers)
    }

    /// Each stream is a descriptor: the process takes as many as the system allows it.
    private func raiseFileLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}

extension BenchRun.Connections {
    fileprivate mutating func add(_ result: Result<any Channel, any Error>) {
        switch result {
        case .success(let channel): open.append(channel)
        case .failure(let failure as WatchFailure): refusals[failure.sentence, default: 0] += 1
        case .failure(let error): refusals[NetworkError.sentence(error), default: 0] += 1
        }
    }
}
