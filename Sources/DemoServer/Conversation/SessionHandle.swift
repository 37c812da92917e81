/// The server's number for a session.
typealias SessionHandle = Int
