/// A message bus with an ordered log, as a cluster needs it: appends in one total order, reading by position, and a
/// generation that changes with the data. No lease, no comparison of revisions, and no clock is asked of it.
package protocol ClusterEngine: Sendable {
    /// Connects, makes the log if there is none, and subscribes to what members send.
    ///
    /// - Parameter receive: Called with all that arrives, from the engine's threads and in order for the frames of the
    ///   log, some of which may be missing. `closed` is the last call, and comes once.
    func connect(_ receive: @escaping @Sendable (EngineInput) -> Void) async throws -> any EngineConnection
}

/// What arrives over a connection to the engine.
package enum EngineInput: Sendable {
    /// A frame of the log.
    case frame(StoredFrame)
    /// Bytes that a member broadcast.
    case broadcast([UInt8])
    /// A request to all members; the reply goes to the address.
    case question([UInt8], replyTo: String)
    /// A request to this process; the reply goes to the address.
    case call([UInt8], replyTo: String)
    /// The connection is gone.
    case closed
}

/// One connection to the engine. It does not come back once it is closed; connect anew.
package protocol EngineConnection: Sendable {
    /// The generation and extent of the log.
    func inspectLog() async throws -> LogGeneration
    /// Sends a frame to the log. Whether it got there shows when it arrives.
    func append(_ frame: [UInt8])
    /// The frames of a range, in order. Throws if one of them cannot be read.
    func fetch(_ range: ClosedRange<UInt64>) async throws -> [StoredFrame]
    /// Sends bytes to all members, this one included.
    func broadcast(_ bytes: [UInt8])
    /// Asks all members; the first complete reply within the time counts.
    func askMembers(_ bytes: [UInt8], within time: Duration) async throws -> [UInt8]
    /// Calls the process of this number.
    func call(_ process: UInt64, _ bytes: [UInt8], within time: Duration) async throws -> [UInt8]
    /// Replies to a question or a call.
    func reply(_ bytes: [UInt8], to address: String)
    /// Closes the connection; `closed` follows.
    func close()
}

/// Why the engine could not do something.
package enum EngineError: Error, Sendable, Equatable {
    /// The connection is closed, or was not made.
    case notConnected(String)
    /// There was no reply in time.
    case timeout
    /// No one is there to reply.
    case noResponder
    /// The engine refused, or replied something unexpected.
    case refused(String)
    /// A frame is not, or no longer, in the log.
    case missing
}
