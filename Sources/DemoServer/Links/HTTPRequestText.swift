/// An HTTP request.
package struct HTTPRequestText: Sendable, Hashable {
    /// `POST`, `GET`, …; `OPTIONS` is answered by the listeners.
    package var method: String
    /// The path as received, without the query.
    package var path: String
    /// The part after the `?`; empty if there is none.
    package var query: String
    package var body: [UInt8]

    package init(method: String = "POST", path: String, query: String = "", body: [UInt8] = []) {
        self.method = method
        self.path = path
        self.query = query
        self.body = body
    }
}

/// A whole HTTP response.
package struct HTTPAnswer: Sendable, Equatable {
    package var status = 200
    package var body: [UInt8] = []
    /// Whether the connection is closed after the response.
    package var closesSocket = false
}
