/// The address, TLS and limits of a daemon. `Daemon.start` replaces invalid values by the nearest valid ones.
package struct DaemonConfiguration: Sendable {
    /// A certificate with its key, both as PEM text.
    package struct Certificate: Sendable {
        /// The server's certificate, followed by its intermediate ones.
        package var chain: String
        /// The private key, not encrypted.
        package var key: String

        package init(chain: String, key: String) {
            self.chain = chain
            self.key = key
        }
    }

    /// The address to listen on: numeric, IPv4 or IPv6, or a name. Default `127.0.0.1`.
    package var host = "127.0.0.1"
    /// The port; 0 takes a free one. Default 0.
    package var port: UInt16 = 0
    /// Threads, each with its own connections and streams; 0: one for each usable processor. Default 1.
    package var shards = 1
    /// TLS, if given.
    package var certificate: Certificate?

    /// Connections at a time, all shards together; the system's limit of descriptors, less the reserved ones, may be
    /// lower. Default 20,000.
    package var connectionLimit = 20_000
    /// Connections beyond that limit, for the requests that `HTTPHandler.isOperational` names. Default 16.
    package var connectionReserve = 16
    /// Descriptors of the process besides connections, among them a few spare ones of each shard. Default 128.
    package var reservedDescriptors = 128
    /// The most descriptors that other parts of the process may open in addition. Where the system's limit is low, at
    /// most half of the descriptors that remain are kept for them. Default 0.
    package var expectedDescriptors = 0
    /// Connections at a time from one address; 0 for no limit. Default 0.
    package var connectionLimitPerAddress = 0
    /// The group that the connections of an address count in; nil: the address is not limited. Called with a numeric
    /// address on the threads of the loops; the result must depend on the address alone. Default: the address itself.
    package var addressGroup: @Sendable (_ host: String) -> String? = { $0 }
    /// The memory of the library for one connection, in bytes. A head has to fit into it, with 56 bytes more for each
    /// header line. Only used memory is allocated. Beyond 32 KiB each connection has pages of its own. Never less than
    /// the limits of target and headers need together. Default 32 KiB.
    package var connectionMemory = 32 * 1024
    /// The longest request target, bytes. Default 16 KiB.
    package var targetLimit = 16 * 1024
    /// The longest header section, bytes. Default 12 KiB.
    package var headerLimit = 12 * 1024
    /// The longest body, bytes. Default 1 MiB.
    package var bodyLimit = 1024 * 1024
    /// An overlong body is read and discarded up to this many bytes, so that the client receives the refusal; beyond
    /// it the connection is closed. Default 8 MiB.
    package var bodyDiscardLimit = 8 * 1024 * 1024
    /// Bytes of all request bodies in memory at a time, half of them for one address, and for one caller; a request beyond
    /// it gets 503. Default 64 MiB.
    package var bodyBudget = 64 * 1024 * 1024
    /// Bytes of all responses of 4 KiB and more at a time; beyond it a caller's oldest are cut off. 0: no limit.
    package var responseBudget = 0
    /// The time without a byte after which a connection is closed, streams excepted. Whole seconds. Default 30 s.
    package var idleTimeout = Duration.seconds(30)
    /// The time within which head and body of a request must be received, idle time not counted; then the connection
    /// is closed. Default 30 s.
    package var requestTimeout = Duration.seconds(30)

    /// The time within which the client must accept a response, plus a second for every 64 KiB of it. Default 60 s.
    package var responseTimeout = Duration.seconds(60)

    /// The time after which a stream whose client accepts no bytes is closed. Default 30 s.
    package var blockedStreamTimeout = Duration.seconds(30)
    /// The kernel's send buffer of a connection, in bytes. Default 64 KiB.
    package var sendBufferSize = 64 * 1024
    /// The most bytes that one stream writes in one visit (an event is not split). Default 64 KiB.
    package var batchLimit = 64 * 1024
    /// The least time between two collections from the feed; a longer time increases delay and batch size. Default 0: none
    /// while the loop keeps up, up to 50 ms in a flood.
    package var flushInterval = Duration.zero

    package init() {}

    /// The same with invalid values replaced by the nearest valid ones.
    var corrected: DaemonConfiguration {
        var corrected = self
        corrected.shards = min(shards > 0 ? shards : ProcessorCount.available(), 256)
        corrected.connectionLimit = max(1, connectionLimit)
        corrected.connectionReserve = min(max(0, connectionReserve), 1024)
        corrected.reservedDescriptors = max(0, reservedDescriptors)
        corrected.expectedDescriptors = max(0, expectedDescriptors)
        corrected.connectionLimitPerAddress = max(0, connectionLimitPerAddress)
        corrected.targetLimit = min(max(1, targetLimit), 1024 * 1024)
        corrected.headerLimit = min(max(1, headerLimit), 1024 * 1024)
        let heads = corrected.targetLimit + corrected.headerLimit + 4096
        corrected.connectionMemory = min(max(heads, connectionMemory), 4 * 1024 * 1024)
        corrected.bodyLimit = max(0, bodyLimit)
        corrected.bodyDiscardLimit = max(0, bodyDiscardLimit)
        corrected.bodyBudget = max(0, bodyBudget)
        corrected.responseBudget = max(0, responseBudget)
        corrected.responseTimeout = max(.milliseconds(100), responseTimeout)
        corrected.idleTimeout = max(.seconds(1), idleTimeout)
        corrected.requestTimeout = max(.milliseconds(100), requestTimeout)
        corrected.blockedStreamTimeout = max(.milliseconds(10), blockedStreamTimeout)
        corrected.sendBufferSize = max(4096, sendBufferSize)
        corrected.batchLimit = max(1, batchLimit)
        corrected.flushInterval = max(.zero, flushInterval)
        return corrected
    }
}

extension DaemonConfiguration {
    /// A daemon needs descriptors for this many connections to start, or for `connectionLimit` if that is less.
    private static let leastConnections = 64

    /// The most connections that a limit of descriptors allows, the reserve not counted.
    ///
    /// - Throws: `tooFewDescriptors`.
    func connectionLimit(descriptors: Int) throws(DaemonError) -> Int {
        let reserved = reservedDescriptors + connectionReserve
        let needed = reserved + min(Self.leastConnections, connectionLimit)
        guard descriptors >= needed else { throw .tooFewDescriptors(limit: descriptors, needed: needed) }
        let free = descriptors - reserved
        return free - min(expectedDescriptors, (free - min(Self.leastConnections, connectionLimit)) / 2)
    }
}
