internal import StreamIO

@testable internal import Gateway
@testable internal import MicroHTTPD

/// The head of a request as the library presents it: colons and line ends are overwritten with NUL bytes in its memory.
///
///     input = method NUL target NUL version LF header line LF header line …
@Sendable func fuzzRequestHeads(_ input: ArraySlice<UInt8>) {
    let lines = input.split(separator: 0x0A, omittingEmptySubsequences: false)
    let words = (lines.first ?? []).split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
    guard words.count == 3 else { return }
    var memory = Array(words[2]) + [0, 0]
    var places: [(name: Range<Int>, value: Range<Int>)] = []
    for line in lines.dropFirst() {
        let start = memory.count
        let colon = line.firstIndex(of: 0x3A) ?? line.endIndex
        let name = start..<start + line.distance(from: line.startIndex, to: colon)
        memory += Array(line) + [0, 0]
        let end = memory.count - 2
        places.append((name, min(name.upperBound + 1, end)..<end))
        memory[name.upperBound] = 0
    }
    memory += [0, 0]
    memory.withUnsafeBytes { bytes in
        guard let base = bytes.baseAddress else { return }
        var headers = HeaderCollection(after: base.assumingMemoryBound(to: CChar.self))
        for (name, value) in places {
            headers.add(
                name: UnsafeRawBufferPointer(rebasing: bytes[name]),
                value: UnsafeRawBufferPointer(rebasing: bytes[value])
            )
        }
        headers.checkEnd(at: UInt(bitPattern: base) + UInt(bytes.count))
        let head = try? RequestHead(
            method: String(decoding: words[0], as: UTF8.self),
            target: String(validating: words[1], as: UTF8.self),
            isOldVersion: false,
            headers: headers,
            limits: DaemonConfiguration()
        )
        if let head { examine(head) }
    }
}

/// What the rules let through keeps what they promise.
private func examine(_ head: RequestHead) {
    let (lengths, encodings) = (head.headers.values(of: "Content-Length"), head.headers.values(of: "Transfer-Encoding"))
    precondition(lengths.count <= 1 && encodings.count <= 1, "two framings")
    precondition(lengths.isEmpty || encodings.isEmpty, "framing by length and coding")
    precondition(encodings.isEmpty || head.isLastOnConnection, "a request follows one with a transfer coding")
    precondition(head.headers.values(of: "Host").count == 1, "no single host")
    let request = HTTPRequest(
        method: head.method,
        rawPath: head.rawPath,
        rawQuery: head.rawQuery,
        headers: head.headers
    )
    _ = try? RequestPath(raw: request.rawPath)
    _ = try? Credential.find(in: request, cookie: "session", takesTickets: true)
    _ = KnownHosts.name(of: request.headers["Host"] ?? "")
    _ = TrustedProxies(networks: [IPNetwork("127.0.0.1")].compactMap { $0 }).client(of: request)
    try? RequestForgery(origins: ["https://a.example"]).check(request, withCookie: true)
    _ = AcceptHeader(request.headers["Accept"]).best(of: ["text/event-stream", "application/x-ndjson"])
    _ = PreferHeader(request.headers["Prefer"])
    _ = RequestIdentity.trace(of: request)
}

/// Queries and paths are decoded or refused; what is decoded is encoded to an equal one.
///
///     input = query or path
@Sendable func fuzzQueries(_ input: ArraySlice<UInt8>) {
    guard let text = String(validating: input, as: UTF8.self) else { return }
    if let query = try? Query(raw: text) {
        let encoded = query.pairs.map { "\(PercentDecoding.encode($0.name))=\(PercentDecoding.encode($0.value))" }
        let again = try? Query(raw: encoded.joined(separator: "&"))
        precondition(again?.pairs == query.pairs, "encoded query differs")
        try? query.allow(only: ["items", "fields"])
    }
    if let path = try? RequestPath(raw: text) {
        let encoded = path.segments.map { "/" + PercentDecoding.encode($0) }.joined()
        precondition((try? RequestPath(raw: encoded.isEmpty ? "/" : encoded)) == path, "encoded path differs")
    }
}
