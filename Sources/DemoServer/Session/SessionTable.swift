internal import Primitives
internal import TLCP

/// The sessions by their numbers and IDs, with the ends of those that were closed within `ServerTimings.tombstoneLife`.
struct SessionTable: Sendable {
    private(set) var open: [SessionHandle: DemoSession] = [:]
    /// The IDs of open sessions and tombstones.
    private var handles: [SessionID: SessionHandle] = [:]
    private var tombstones: [SessionHandle: (id: SessionID, end: SessionEnd)] = [:]
    private var generator: SplitMix64
    private var lastHandle: SessionHandle = 0
    private let configuration: DemoServerConfiguration

    /// No sessions; IDs follow from the seed.
    init(_ configuration: DemoServerConfiguration, seed: UInt64) {
        self.configuration = configuration
        generator = SplitMix64(seed: seed, part: "sessions")
    }

    /// An open session; nil once the session has ended. Changes of an absent session are ignored.
    subscript(handle: SessionHandle) -> DemoSession? {
        get { open[handle] }
        _modify { yield &open[handle] }
    }

    /// The number of a session that is open or has a tombstone.
    func handle(of id: SessionID) -> SessionHandle? { handles[id] }

    /// The error for a late bind of a closed session; nil: none is kept.
    func end(of handle: SessionHandle) -> SessionEnd? { tombstones[handle]?.end }

    /// Creates a session that is not bound yet.
    mutating func create(_ request: CreateSessionRequest, version: ProtocolVersion) -> SessionHandle {
        lastHandle += 1
        let hex = String(generator.next(), radix: 16) + String(generator.next(), radix: 16)
        let id = SessionID("S\(hex)T\(String(lastHandle))")
        open[lastHandle] = DemoSession(lastHandle, id, request, version: version, configuration)
        handles[id] = lastHandle
        return lastHandle
    }

    /// Removes and returns a session. With an end it leaves a tombstone, until `forget(_:)`.
    mutating func close(_ handle: SessionHandle, _ end: SessionEnd?) -> DemoSession? {
        guard let session = open.removeValue(forKey: handle) else { return nil }
        if let end { tombstones[handle] = (session.id, end) } else { handles[session.id] = nil }
        return session
    }

    /// Removes a tombstone.
    mutating func forget(_ handle: SessionHandle) {
        if let (id, _) = tombstones.removeValue(forKey: handle) { handles[id] = nil }
    }
}
