/// The connections that are open, as far as the machine knows: what has ended needs not be closed.
struct ConnectionTable {
    private var open: Set<ConnectionID> = []
    private var last: UInt64 = 0

    /// An identifier for a connection that is being opened.
    mutating func opened() -> ConnectionID {
        last &+= 1
        let connection = ConnectionID(last)
        open.insert(connection)
        return connection
    }

    /// A connection ended, or is let go. False: it had ended before.
    mutating func ended(_ connection: ConnectionID) -> Bool { open.remove(connection) != nil }
}
