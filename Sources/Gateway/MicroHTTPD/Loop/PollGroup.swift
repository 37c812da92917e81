internal import Glibc
internal import StreamIO

/// A connection whose socket the loop has. Confined to the loop's thread.
final class PollingConnection {
    let record: ConnectionRecord
    let token: UInt64
    /// The wait that the present request has joined, and its index there; nil: there is no request.
    var group: PollGroup?
    var index = 0
    var request: (any JoinedRequest)?
    /// The pieces of the response that the socket has not accepted.
    var rest: [StreamPiece] = []
    /// The memory of the response, if that is large, until it is sent.
    var heldResponse: HeldResponse?
    var closes = false
    /// Bytes have arrived that were not looked at.
    var hasInput = false
    var isHalfClosed = false

    init(_ record: ConnectionRecord, token: UInt64) {
        self.record = record
        self.token = token
    }

    var descriptor: Int32 { record.descriptor }
    /// No request waits, and no response is being sent.
    var isIdle: Bool { group == nil && rest.isEmpty }
}

/// A shared wait with the polls that have joined it. Confined to the loop's thread.
final class PollGroup {
    /// The id of the exchange that began it.
    let id: UInt64
    /// The bytes of each of its requests.
    let head: [UInt8]
    let wait: any SharedWait
    /// Whether the request that began it waits.
    var hasFirst = true
    private(set) var members: [PollingConnection] = []

    init(id: UInt64, head: [UInt8], wait: any SharedWait) {
        self.id = id
        self.head = head
        self.wait = wait
    }

    /// Whether its requests have these bytes.
    func isFor(_ other: UnsafeRawBufferPointer) -> Bool {
        guard other.count == head.count, let start = other.baseAddress else { return false }
        return memcmp(head, start, other.count) == 0
    }

    func add(_ connection: PollingConnection, _ request: any JoinedRequest) {
        connection.group = self
        connection.request = request
        connection.index = members.count
        members.append(connection)
    }

    func remove(_ connection: PollingConnection) {
        connection.group = nil
        guard let last = members.popLast(), last !== connection else { return }
        members[connection.index] = last
        last.index = connection.index
    }
}
