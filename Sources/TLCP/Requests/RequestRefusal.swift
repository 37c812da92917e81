/// Why a server cannot take a request, and how it says so.
package struct RequestRefusal: Error, Sendable, Hashable {
    /// The line that carries the refusal.
    package enum Carrier: Sendable, Hashable {
        /// `CONERR`: the request wanted a stream connection.
        case connection
        /// `REQERR`: the request has an identifier.
        case request(RequestID)
        /// `ERROR`: the request cannot be told from others.
        case unaddressed
    }

    /// The line that carries the refusal.
    package var carrier: Carrier
    /// The error code: 65 a wrong value or syntax, 67 something missing or unknown, 64 a bad part of a combo.
    package var code: Int
    /// The reason, for people.
    package var message: String

    /// A refusal.
    package init(_ carrier: Carrier, code: Int, message: String) {
        self.carrier = carrier
        self.code = code
        self.message = message
    }

    /// The line to answer with.
    package var notification: ServerNotification {
        switch carrier {
        case .connection: .conErr(code: code, message: message)
        case .request(let requestID): .reqErr(requestID, code: code, message: message)
        case .unaddressed: .error(code: code, message: message)
        }
    }
}
