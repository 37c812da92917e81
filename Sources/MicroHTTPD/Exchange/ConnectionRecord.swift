/// What is remembered of a connection for as long as the library has it. Confined to its loop's thread.
final class ConnectionRecord {
    /// Unique in the process.
    let id: UInt64
    /// Who is at the other end.
    let peer: PeerAddress
    /// The library's descriptor of it.
    let descriptor: Int32
    /// The connection became a stream, which goes on, and is counted, without the library.
    var isTakenOver = false
    /// The place in the loop's table of connections.
    let slot: Int

    init(id: UInt64, peer: PeerAddress, descriptor: Int32, slot: Int) {
        self.id = id
        self.peer = peer
        self.descriptor = descriptor
        self.slot = slot
    }
}
