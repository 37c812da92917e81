/// How much a server holds.
package struct ServerCensus: Sendable, Hashable {
    /// Sessions, bound or not.
    package var sessions = 0
    /// Sessions that are bound to a stream connection.
    package var boundSessions = 0
    /// Open WebSockets and unfinished HTTP exchanges.
    package var connections = 0
    /// Active subscriptions of all sessions.
    package var subscriptions = 0
    /// Data notifications committed since the start.
    package var notifications = 0

    /// An empty server.
    package init() {}
}
