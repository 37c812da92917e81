internal import SessionCore

@testable internal import GatewayCluster
@testable internal import Replication

private let layout = SubscriptionLayout(itemNames: ["i", "j"], fieldNames: ["a", "b"], fieldCount: 2)

/// Messages between members are read or refused; what is read is written to bytes that are read again.
///
///     input = kind, message
@Sendable func fuzzClusterMessages(_ input: ArraySlice<UInt8>) {
    guard let kind = input.first else { return }
    let message = Array(input.dropFirst())
    switch kind {
    case 0: examine(message) { ClusterFrame($0)?.bytes }
    case 1: examine(message) { Heartbeat($0)?.bytes }
    case 2: examine(message) { (try? MemberCall($0))?.bytes }
    case 3: examine(message) { (try? Wire.responses.value($0)).map(Wire.responses.bytes) }
    case 4: examine(message) { (try? ClusterTicket.wire.value($0)).map(ClusterTicket.wire.bytes) }
    case 5: examine(message) { (try? StreamDefinition($0))?.bytes }
    case 6: examine(message) { (try? ClusterSnapshot($0))?.bytes(in: Formats.supported.ofState.newest) }
    case 7: applyFrames(message)
    default:
        examine(message) { bytes in (try? ClusterRecord.read(bytes[...]) { _ in layout })?.body }
    }
}

/// Reads and writes a message twice: from the first written bytes on, they stay the same.
private func examine(_ message: [UInt8], _ rewritten: ([UInt8]) -> [UInt8]?) {
    guard let first = rewritten(message) else { return }
    precondition(rewritten(first) == first, "a written message is read as another one")
}

/// A ledger applies the records of two members, whatever they are.
private func applyFrames(_ payload: [UInt8]) {
    var ledger = ClusterLedger(epoch: 1, position: 1, groups: 4)
    let join = ClusterRecord.join(MemberInfo(name: "a", version: "1", upstreams: ["u"])).encoded
    for (member, counter, payload) in [(1, 1, join), (2, 1, join), (1, 2, payload), (2, 2, payload)] {
        let frame = ClusterFrame(
            member: UInt64(member),
            epoch: ledger.epoch,
            previous: ledger.position,
            digest: 0,
            counter: UInt64(counter),
            payload: payload[...]
        )
        _ = ledger.apply(LogEntry(StoredFrame(position: ledger.position + 1, bytes: frame.bytes)))
    }
}
