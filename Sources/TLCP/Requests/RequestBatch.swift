/// Requests of one name that travel together: one WebSocket message or one HTTP body, within the request limit.
package struct RequestBatch: Sendable, Hashable {
    /// Where the batch travels, which decides whether the request name is part of its bytes.
    package enum Form: Sendable, Hashable {
        /// A WebSocket message: the request name, then the lines.
        case webSocket
        /// The body of an HTTP request: the lines alone.
        case http
    }

    /// The name that all of its requests have.
    package let name: RequestName
    /// The bytes to send.
    package private(set) var bytes: [UInt8]
    /// The number of requests.
    package private(set) var count = 0
    private let limit: Int

    /// A batch that holds one request, even if that alone is beyond the limit.
    package init(_ first: ClientRequest, form: Form, limit: Int) {
        name = first.name
        self.limit = limit
        bytes = form == .webSocket ? first.webSocketMessage : first.httpBody
        count = 1
    }

    /// Adds a request as another line; false if its name is another one, takes no batches, or it does not fit.
    package mutating func append(_ request: ClientRequest) -> Bool {
        guard request.name == name, name.allowsBatch else { return false }
        let before = bytes.count
        bytes.append(contentsOf: "\r\n".utf8)
        request.encode(into: &bytes)
        if bytes.count > limit {
            bytes.removeSubrange(before...)
            return false
        }
        count += 1
        return true
    }

    /// Packs requests, in their order, into as few batches as that order and the limit allow.
    package static func pack(
        _ requests: some Sequence<ClientRequest>,
        form: Form,
        limit: Int
    ) -> [RequestBatch] {
        var batches: [RequestBatch] = []
        for request in requests {
            if let last = batches.indices.last, batches[last].append(request) { continue }
            batches.append(RequestBatch(request, form: form, limit: limit))
        }
        return batches
    }
}
