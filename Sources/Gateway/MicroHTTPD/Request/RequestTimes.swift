internal import Glibc
internal import Primitives

/// The connections of a loop, with the deadlines of their requests. The library's own timeout restarts with every
/// byte, so that a client could send single bytes without end. Confined to the loop's thread.
final class RequestTimes {
    // In nanoseconds: the conversion of a `Duration` is a division of 128 bits.
    private let requestTimeout: Int64
    /// The time between the requests of a connection.
    private let idleTimeout: Int64
    /// The time between the requests of a connection that the library has. The library itself closes idle connections.
    private let pauseTimeout: Int64
    /// The time within which a connection beyond the limit has to send its request.
    private static let reservedRequestTimeout = Duration.seconds(5).clampedNanoseconds
    private let responseTimeout: Int64
    /// The time between two looks at a connection from which a request arrives: version 0.9.75 of the library does not
    /// notice a client that closes its side together with its last bytes.
    private static let lookInterval = Duration.seconds(1).clampedNanoseconds
    /// A client that accepts fewer bytes in a second is too slow.
    static let leastBytesPerSecond = 64 * 1024
    /// The most bytes that an encrypted connection may send up to its first request line, more than both take. The TLS library
    /// keeps an incomplete message of a handshake, which may have 16 MiB.
    private let mostHandshakeBytes: Int64
    /// The longest time that a response can have because of its size, in seconds.
    private static let longestTransfer = 86_400
    private var records: [ConnectionRecord?] = []
    private var free: [Int] = []
    private var wheel: TimerWheel
    private var due: [Int] = []
    private var now: Moment

    init(configuration: DaemonConfiguration, now: Moment) {
        requestTimeout = configuration.requestTimeout.clampedNanoseconds
        idleTimeout = configuration.idleTimeout.clampedNanoseconds
        pauseTimeout = (configuration.idleTimeout + configuration.requestTimeout).clampedNanoseconds
        responseTimeout = configuration.responseTimeout.clampedNanoseconds
        mostHandshakeBytes = Int64(2 * configuration.connectionMemory + 64 * 1024)
        self.now = now
        wheel = TimerWheel(granularity: .milliseconds(100), now: now)
    }

    /// When `advance` is due.
    var nextTick: Moment? { wheel.nextTick }

    /// A connection was accepted; its first request is due.
    func add(_ place: ConnectionPlace, of server: HTTPServer) -> ConnectionRecord {
        let slot = free.popLast() ?? records.count
        let record = ConnectionRecord(server: server, place: place, slot: slot)
        if slot == records.count { records.append(record) } else { records[slot] = record }
        let limit = place.isReserved ? min(Self.reservedRequestTimeout, requestTimeout) : requestTimeout
        record.limit = now.advanced(by: limit)
        wheel.schedule(slot, at: min(record.limit, now.advanced(by: Self.lookInterval)))
        return record
    }

    func remove(_ record: ConnectionRecord) {
        wheel.cancel(record.slot)
        records[record.slot] = nil
        free.append(record.slot)
    }

    /// A request line was received: the rest has to follow within the request timeout, or at an earlier deadline.
    func requestBegan(_ record: ConnectionRecord) {
        let limit = now.advanced(by: requestTimeout)
        record.isIdle = false
        if limit < record.limit { record.limit = limit }
        wheel.schedule(record.slot, at: min(record.limit, now.advanced(by: Self.lookInterval)))
    }

    /// The request is complete: no limit while it is being answered.
    func requestArrived(_ record: ConnectionRecord) { wheel.cancel(record.slot) }

    /// The request waits with equal ones, at most this long.
    func requestWaits(_ record: ConnectionRecord, atMost limit: Duration) {
        wheel.schedule(record.slot, at: now + limit)
    }

    /// The response is ready: its client has to accept it in time.
    func responseBegan(_ record: ConnectionRecord, size: Int) {
        let transfer = Int64(min(size / Self.leastBytesPerSecond, Self.longestTransfer)) * 1_000_000_000
        record.limit = now.advanced(by: responseTimeout).advanced(by: transfer)
        wheel.schedule(record.slot, at: record.limit)
    }

    /// The request is answered: the connection may be idle before the next one.
    func requestEnded(_ record: ConnectionRecord) {
        guard record.onDeadline == nil else { return wheel.schedule(record.slot, at: now.advanced(by: idleTimeout)) }
        record.isIdle = true
        record.limit = now.advanced(by: pauseTimeout)
        wheel.schedule(record.slot, at: min(record.limit, now.advanced(by: Self.lookInterval)))
    }

    /// Shuts down connections that are late, whose clients have closed their side, or whose handshakes are too long, unless
    /// they have another action. The library detects the end of input and closes them.
    func advance(to now: Moment) {
        self.now = now
        due.removeAll(keepingCapacity: true)
        wheel.advance(to: now, due: &due)
        for slot in due {
            // An action may have ended other connections, and new ones have their slots then.
            guard let record = records[slot], wheel.deadline(of: slot) == nil else { continue }
            if let act = record.onDeadline {
                act()
            } else if now < record.limit, !HTTPServer.hasEnded(record.descriptor),
                !record.isHandshaking || HTTPServer.readCount(of: record.descriptor) <= mostHandshakeBytes
            {
                // The library notices the end of an idle connection, unless a part of a request line comes with the end.
                let look = now.advanced(by: Self.lookInterval)
                wheel.schedule(slot, at: record.isIdle ? record.limit : min(record.limit, look))
            } else {
                shutdown(record.descriptor, Int32(SHUT_RDWR))
            }
        }
    }
}
