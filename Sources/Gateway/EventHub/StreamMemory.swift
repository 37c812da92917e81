internal import Synchronization

/// The memory of the streams and event logs of a hub, compared with a budget.
///
///     logs        replay windows, and the events that late readers have yet to read from them; compressors
///     pending     events of single readers: snapshots, conflated updates
///     sources     what the gateway keeps for each source of a stream, also of one that is prepared
///
/// Above the budget the oldest replay windows are dropped first, then the slowest readers are closed. The pending events
/// of the streams of one owner have a budget of their own. Sources beyond half of the budget are refused by the gateway, and
/// groups of compressed streams beyond an eighth of it have no compressor.
package final class StreamMemory: Sendable {
    /// The budget of all streams and logs, in bytes.
    package let limit: Int
    /// The budget of the pending events of one owner, in bytes.
    package let ownerLimit: Int
    private let logBytes = Atomic<Int>(0)
    private let pendingBytes = Atomic<Int>(0)
    private let sourceBytes = Atomic<Int>(0)
    private let compressorBytes = Atomic<Int>(0)

    /// What a source of a stream takes, about, in bytes: its places in the tables of the gateway, of the hub and of a shard.
    package static let sourceWeight = 3 << 10

    /// No memory in use. A limit of 0 is none.
    package init(limit: Int = 0, ownerLimit: Int = 0) {
        self.limit = limit > 0 ? limit : .max
        sourceLimit = self.limit / 2
        self.ownerLimit = ownerLimit > 0 ? ownerLimit : .max
    }

    /// The approximate size of all logs, in bytes.
    package var logs: Int { logBytes.load(ordering: .relaxed) }
    /// The approximate size of all pending events, in bytes.
    package var pending: Int { pendingBytes.load(ordering: .relaxed) }
    /// The approximate size of the sources of all streams, in bytes.
    package var sources: Int { sourceBytes.load(ordering: .relaxed) }
    /// The approximate memory in use, in bytes.
    package var total: Int { logs + pending + sources }
    /// The part that counts against the budget: sources up to their limit. A member of a cluster that inherits streams may have
    /// more, for which neither windows nor readers can make room.
    package var used: Int { logs + pending + min(sources, sourceLimit) }

    /// The most memory of sources, in bytes: the events of streams have the other half.
    package let sourceLimit: Int

    /// The memory up to which windows are dropped and readers are closed: an eighth of the budget is free then.
    var goal: Int { limit - limit / 8 }

    var isExceeded: Bool {
        logBytes.load(ordering: .relaxed) + pendingBytes.load(ordering: .relaxed)
            + min(sourceBytes.load(ordering: .relaxed), sourceLimit) > limit
    }

    /// A log has grown, or shrunk, by a number of bytes.
    func addLog(_ bytes: Int) { logBytes.wrappingAdd(bytes, ordering: .relaxed) }

    /// Counts a further compressor of a number of bytes; false if there is no room for one.
    func addCompressor(_ bytes: Int) -> Bool {
        guard compressorBytes.load(ordering: .relaxed) + bytes <= limit / 8 else { return false }
        compressorBytes.wrappingAdd(bytes, ordering: .relaxed)
        addLog(bytes)
        return true
    }

    func removeCompressor(_ bytes: Int) {
        compressorBytes.wrappingAdd(-bytes, ordering: .relaxed)
        addLog(-bytes)
    }

    /// Streams have more sources, or fewer.
    package func addSources(_ count: Int) { sourceBytes.wrappingAdd(count * Self.sourceWeight, ordering: .relaxed) }

    /// The pending events of a stream have grown, or shrunk, by a number of bytes.
    func addPending(_ bytes: Int, of owner: StreamOwnerMemory) {
        pendingBytes.wrappingAdd(bytes, ordering: .relaxed)
        owner.add(bytes)
    }
}

/// The memory of the pending events of one owner's streams.
final class StreamOwnerMemory: Sendable {
    private let bytes = Atomic<Int>(0)

    var used: Int { bytes.load(ordering: .relaxed) }

    fileprivate func add(_ count: Int) { bytes.wrappingAdd(count, ordering: .relaxed) }
}

/// The owners of streams, each while it has one.
struct StreamOwners: Sendable {
    private struct Owner: Sendable {
        let memory = StreamOwnerMemory()
        var streams = 0
    }

    private var owners: [String: Owner] = [:]

    mutating func add(_ name: String) -> StreamOwnerMemory {
        owners[name, default: Owner()].streams += 1
        return owners[name, default: Owner()].memory
    }

    mutating func remove(_ name: String) {
        guard let owner = owners[name] else { return }
        if owner.streams > 1 { owners[name]?.streams -= 1 } else { owners[name] = nil }
    }
}
