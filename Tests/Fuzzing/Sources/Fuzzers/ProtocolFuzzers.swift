internal import JSONText
internal import TLCP

/// Lines are the same for every division of the bytes, and encoded notifications are parsed back.
///
///     input = size of the chunks, bytes of the server
@Sendable func fuzzTLCPLines(_ input: ArraySlice<UInt8>) {
    guard let first = input.first else { return }
    let bytes = input.dropFirst()
    var whole = LineSplitter(maxLineLength: 64)
    var cut = LineSplitter(maxLineLength: 64)
    let expected = try? whole.feed(bytes)
    var lines: [ArraySlice<UInt8>] = []
    var isIntact = true
    var rest = bytes
    while !rest.isEmpty, isIntact {
        let chunk = rest.prefix(Int(first) % 32 + 1)
        rest = rest.dropFirst(chunk.count)
        if let found = try? cut.feed(Array(chunk)) { lines += found } else { isIntact = false }
    }
    if let expected {
        precondition(isIntact && lines.map(Array.init) == expected.map(Array.init), "lines depend on the chunks")
        precondition(
            whole.endMessage().map(Array.init) == cut.endMessage().map(Array.init),
            "rests depend on the chunks"
        )
    }
    for line in lines {
        guard let notification = (try? ServerNotification(parsing: line)) ?? nil else { continue }
        let again = try? ServerNotification(parsing: notification.encoded.dropLast(2))
        precondition(again == notification, "encoded notification differs")
    }
}

/// Rows accept any field lists, and an encoder's lists with all kinds of diffs restore its values.
///
///     input = number of fields, field list NUL field list NUL …
@Sendable func fuzzFieldLists(_ input: ArraySlice<UInt8>) {
    guard let first = input.first else { return }
    let count = Int(first) % 8 + 1
    var row = ItemRow(fieldCount: count)
    var copy = ItemRow(fieldCount: count)
    var encoder = RowEncoder()
    for list in parts(of: input.dropFirst()) {
        guard (try? row.apply(FieldList(list))) != nil else { return }
        let encoded = encoder.encode(row.values, diffs: .all)
        do {
            _ = try copy.apply(encoded)
        } catch {
            preconditionFailure("encoded list is rejected: \(error)")
        }
        precondition(copy.values.elementsEqual(row.values, by: isSame), "encoded list restores other values")
    }
}

/// Whether two values have the same bytes, or are equivalent JSON: a JSON Patch does not keep the
/// white space of a value.
private func isSame(_ left: String?, _ right: String?) -> Bool {
    guard let left, let right else { return left == nil && right == nil }
    if left.hasSameBytes(as: right) { return true }
    guard let left = try? JSONValue(parsing: left), let right = try? JSONValue(parsing: right) else { return false }
    return left.isEquivalent(to: right)
}

/// Requests of a WebSocket message and of an HTTP body are parsed, and accepted ones are parsed back.
///
///     input = number of the request name, query NUL body, or any WebSocket message
@Sendable func fuzzRequests(_ input: ArraySlice<UInt8>) {
    check(RequestParser.parse(webSocketMessage: input))
    guard let first = input.first else { return }
    let name = RequestName.allCases[Int(first) % RequestName.allCases.count]
    let texts = parts(of: input.dropFirst())
    let query = Array("LS_protocol=TLCP-2.5.0&".utf8) + texts[0]
    check(RequestParser.parse(name, query: query[...], body: texts.dropFirst().first ?? []))
    _ = RequestName(httpPath: String(decoding: input, as: UTF8.self))
}

private func check(_ outcomes: [RequestParser.Outcome]) {
    for case .success(let request) in outcomes {
        let again = RequestParser.parse(webSocketMessage: request.webSocketMessage[...])
        precondition(again == [.success(request)], "encoded request differs")
    }
}
