/// A message bus with an ordered log: appends in one total order, reading by position, and a generation that changes
/// with the data. Leases, comparison of revisions and clocks are not needed.
package protocol ClusterEngine: Sendable {
    /// Connects, creates the log if there is none, and subscribes to the messages of members.
    ///
    /// - Parameter receive: Called on the engine's threads with each message received. Frames of the log are passed on
    ///   in order, but some may be missing. `closed` is passed once, as the last message.
    func connect(_ receive: @escaping @Sendable (EngineInput) -> Void) async throws -> any EngineConnection
}

/// Replies to a request, over the connection on which it was received.
package typealias EngineReply = @Sendable (_ bytes: [UInt8]) -> Void

/// A message received over a connection to the engine.
package enum EngineInput: Sendable {
    /// A frame of the log.
    case frame(StoredFrame)
    /// Bytes that a member broadcast.
    case broadcast([UInt8])
    /// A request to all members.
    case groupRequest([UInt8], reply: EngineReply)
    /// A message to this process; `reply` nil: no reply is expected.
    case call([UInt8], reply: EngineReply?)
    /// The engine refuses messages or a subscription of this process, in its own words, which name the subject.
    case refused(String)
    /// The engine does not store a frame of this process: the reason in its own words, and the subject.
    case notStored(String)
    /// The connection is closed.
    case closed
}

/// One connection to the engine. It is not reopened once it is closed.
package protocol EngineConnection: Sendable {
    /// The generation and extent of the log.
    func inspectLog() async throws -> LogGeneration
    /// The risks of the engine's version and settings, as sentences for operators.
    func warnings() async -> [String]
    /// Sends a frame to the log. Receiving the frame back confirms that it was appended.
    ///
    /// - Parameter again: Whether the frame has not come back, or begins an epoch: `notStored` follows if the engine refuses it.
    func append(_ frame: [UInt8], again: Bool)
    /// The frames of a range, in order, or those of them that arrive in time. Throws if there are none.
    func fetch(_ range: ClosedRange<UInt64>) async throws -> [StoredFrame]
    /// Sends bytes to all members, this one included.
    func broadcast(_ bytes: [UInt8])
    /// Sends a request to all members; returns the first complete reply within the time.
    func requestFromGroup(_ bytes: [UInt8], within time: Duration) async throws -> [UInt8]
    /// Sends a request to the process of this number.
    ///
    /// - Parameter sent: Called once the request is sent: messages of `notify` arrive after it from then on.
    func call(
        _ process: UInt64,
        _ bytes: [UInt8],
        within time: Duration,
        sent: @escaping @Sendable () -> Void
    ) async throws -> [UInt8]
    /// Sends a message to the process of this number, without a reply.
    func notify(_ process: UInt64, _ bytes: [UInt8])
    /// Closes the connection; `closed` follows.
    func close()
}

extension EngineConnection {
    package func warnings() async -> [String] { [] }
}

/// An error of the engine.
package enum EngineError: Error, Sendable, Equatable {
    /// The connection is closed, or was not established.
    case notConnected(String)
    /// There was no reply in time.
    case timeout
    /// There is no recipient.
    case noResponder
    /// The log has removed the recipient.
    case removed
    /// The engine refused the operation, or its reply is unexpected.
    case refused(String)
    /// A frame is not, or no longer, in the log.
    case missing
}

extension EngineError: CustomStringConvertible {
    /// The error as a sentence.
    package var description: String {
        switch self {
        case .notConnected(let cause): "The engine is not connected: \(cause)"
        case .timeout: "The engine does not respond in time."
        case .noResponder: "No member responds."
        case .removed: "The member was removed."
        case .refused(let cause): "The engine refuses the operation: \(cause)"
        case .missing: "The log does not have the frame."
        }
    }
}

/// The identity of the data of a log: it changes when the log is deleted and created again.
package struct LogGeneration: Sendable, Equatable {
    /// The time, or another mark, of the log's creation: equal only for the same data.
    package var created: String
    /// The first position that is kept.
    package var first: UInt64
    /// The last position that was written.
    package var last: UInt64

    package init(created: String, first: UInt64, last: UInt64) {
        self.created = created
        self.first = first
        self.last = last
    }
}
