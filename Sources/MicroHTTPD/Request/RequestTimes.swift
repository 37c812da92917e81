internal import Glibc
internal import StreamIO

/// The connections of a loop, and by when each has to have brought its request. The library's own timeout starts anew
/// with every byte, which a client could send one by one for ever. Confined to the loop's thread.
final class RequestTimes {
    private let idleTimeout: Duration
    private let requestTimeout: Duration
    /// The longest time in which a connection beyond the limit has to send its request.
    private static let reservedRequestTimeout = Duration.seconds(5)
    private let responseTimeout: Duration
    /// A client that takes fewer bytes in a second is too slow.
    static let leastBytesPerSecond = 64 * 1024
    private var records: [ConnectionRecord?] = []
    private var free: [Int] = []
    private var wheel: TimerWheel
    private var due: [Int] = []
    private var now: Moment

    init(configuration: DaemonConfiguration, now: Moment) {
        idleTimeout = configuration.idleTimeout
        requestTimeout = configuration.requestTimeout
        responseTimeout = configuration.responseTimeout
        self.now = now
        wheel = TimerWheel(granularity: .milliseconds(100), now: now)
    }

    /// When `advance` has something to do next.
    var nextTick: Moment? { wheel.nextTick }

    /// A connection was accepted; its first request is due.
    func add(_ place: ConnectionPlace, descriptor: Int32) -> ConnectionRecord {
        let slot = free.popLast() ?? records.count
        let record = ConnectionRecord(place: place, descriptor: descriptor, slot: slot)
        if slot == records.count { records.append(record) } else { records[slot] = record }
        let limit = place.isReserved ? min(Self.reservedRequestTimeout, requestTimeout) : requestTimeout
        wheel.schedule(slot, at: now + limit)
        return record
    }

    /// The connection is closed.
    func remove(_ record: ConnectionRecord) {
        wheel.cancel(record.slot)
        records[record.slot] = nil
        free.append(record.slot)
    }

    /// A request line has come: the rest has to follow within the request timeout, if it had not been due earlier.
    func requestBegan(_ record: ConnectionRecord) {
        let limit = now + requestTimeout
        if let earlier = wheel.deadline(of: record.slot), earlier < limit { return }
        wheel.schedule(record.slot, at: limit)
    }

    /// The request is complete: no limit while it is being answered.
    func requestArrived(_ record: ConnectionRecord) {
        wheel.cancel(record.slot)
    }

    /// The response is ready: its client has to take it in time.
    func responseBegan(_ record: ConnectionRecord, size: Int) {
        wheel.schedule(record.slot, at: now + (responseTimeout + .seconds(size / Self.leastBytesPerSecond)))
    }

    /// The request is answered: the connection may be idle, then bring another.
    func requestEnded(_ record: ConnectionRecord) {
        wheel.schedule(record.slot, at: now + (idleTimeout + requestTimeout))
    }

    /// Cuts off what is late. The library notices the end of input and closes the connection.
    func advance(to now: Moment) {
        self.now = now
        due.removeAll(keepingCapacity: true)
        wheel.advance(to: now, due: &due)
        for slot in due {
            if let record = records[slot] { shutdown(record.descriptor, Int32(SHUT_RDWR)) }
        }
    }
}
