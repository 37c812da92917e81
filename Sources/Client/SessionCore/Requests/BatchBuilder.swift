internal import TLCP

/// Collects pending requests into one batch within the request limit of the server.
struct BatchBuilder {
    /// The carrier of the batch.
    let form: RequestBatch.Form
    /// The requests so far; nil: none.
    private(set) var batch: RequestBatch?
    /// The size in bytes of a first request that exceeds the limit and is not to be sent; nil: there is none.
    private(set) var oversize: Int?
    private let limit: Int
    private let refusesOversized: Bool

    /// No requests. A limit of 0 or below is none. Without `refusesOversized` a first request may exceed the limit.
    init(_ form: RequestBatch.Form, limit: Int, refusesOversized: Bool) {
        self.form = form
        self.limit = limit
        self.refusesOversized = refusesOversized && limit > 0
    }

    /// Whether there is no request, neither one to be sent nor one that is too large.
    var isEmpty: Bool { batch == nil && oversize == nil }

    /// Adds a request; false if the request stays pending.
    mutating func add(_ request: ClientRequest) -> Bool {
        if batch != nil { return batch?.append(request) ?? false }
        let first = RequestBatch(request, form: form, limit: limit)
        if refusesOversized, first.bytes.count > limit {
            oversize = first.bytes.count
            return false
        }
        batch = first
        return true
    }
}
