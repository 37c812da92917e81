internal import JSONText

/// The server's side of `ItemRow`: what has gone on the wire for one item, and how the next row is told from it.
package struct RowEncoder: Sendable {
    /// The values sent last; nil before the first update.
    package private(set) var values: [String?]?
    /// The fields that clients hold as documents, by index from 0.
    private var documents: [Int: JSONValue] = [:]

    /// An encoder that has sent nothing.
    package init() {}

    /// The field list for the next row, which counts as sent from now on.
    ///
    /// - Parameters:
    ///   - next: the values, as many as there are fields.
    ///   - diffs: the diff formats that may be used; a diff is used only where it is shorter than the value.
    ///   - fieldDiffs: other formats for single fields, by 1-based position.
    ///   - minimumLength: no diff for values of fewer bytes.
    package mutating func encode(
        _ next: [String?],
        diffs: DiffFormats = [],
        fieldDiffs: [Int: DiffFormats] = [:],
        minimumLength: Int = 0
    ) -> FieldList {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16 * next.count)
        var unchanged = 0
        for field in next.indices {
            if isUnchanged(next[field], at: field) {
                unchanged += 1
                continue
            }
            Self.appendRun(unchanged, before: field, into: &bytes)
            unchanged = 0
            if field > 0 { bytes.append(UInt8(ascii: "|")) }
            var formats = fieldDiffs[field + 1] ?? diffs
            if (next[field]?.utf8.count ?? 0) < minimumLength { formats = [] }
            appendValue(next[field], at: field, formats, into: &bytes)
        }
        Self.appendRun(unchanged, before: next.count, into: &bytes)
        values = next
        return FieldList(bytes[...])
    }

    private func isUnchanged(_ next: String?, at field: Int) -> Bool {
        guard let values, values.indices.contains(field) else { return false }
        switch (values[field], next) {
        case (nil, nil): return true
        case (let old?, let new?): return old.hasSameBytes(as: new)
        default: return false
        }
    }

    /// Appends the tokens of a run of unchanged fields that ends before a field: up to three empty tokens, or a count.
    private static func appendRun(_ count: Int, before field: Int, into bytes: inout [UInt8]) {
        if count == 0 { return }
        let isFirst = count == field
        if count <= 3 {
            let separators = isFirst ? count - 1 : count
            bytes.append(contentsOf: repeatElement(UInt8(ascii: "|"), count: separators))
        } else {
            if !isFirst { bytes.append(UInt8(ascii: "|")) }
            bytes.append(UInt8(ascii: "^"))
            bytes.append(decimal: count)
        }
    }

    private mutating func appendValue(
        _ next: String?,
        at field: Int,
        _ formats: DiffFormats,
        into bytes: inout [UInt8]
    ) {
        guard let next, !next.utf8.isEmpty else {
            documents[field] = nil
            bytes.append(next == nil ? UInt8(ascii: "#") : UInt8(ascii: "$"))
            return
        }
        let start = bytes.count
        Self.escape(next, isWholeToken: true, into: &bytes)
        var document: JSONValue?
        if !formats.isEmpty, let base = values?[field] {
            let fullCount = bytes.count - start
            let diff = diff(from: base, to: next, at: field, formats, below: fullCount)
            let patch = patch(from: base, to: next, at: field, formats, below: diff?.count ?? fullCount)
            if let token = patch?.token ?? diff { bytes.replaceSubrange(start..., with: token) }
            document = patch?.result
        }
        documents[field] = document
    }

    /// A TLCP-diff token of fewer bytes than a limit, if one is allowed and possible.
    private func diff(
        from base: String,
        to next: String,
        at field: Int,
        _ formats: DiffFormats,
        below limit: Int
    ) -> [UInt8]? {
        guard formats.contains(.tlcpDiff), documents[field] == nil,
            let diff = TLCPDiff.encode(from: base, to: next)
        else { return nil }
        return Self.token("^T", diff, below: limit)
    }

    /// A JSON Patch token of fewer bytes than a limit, if one is allowed and possible, and the document it makes.
    private func patch(
        from base: String,
        to next: String,
        at field: Int,
        _ formats: DiffFormats,
        below limit: Int
    ) -> (token: [UInt8], result: JSONValue)? {
        guard formats.contains(.jsonPatch),
            let old = documents[field] ?? (try? JSONValue(parsing: base)), let new = try? JSONValue(parsing: next),
            let token = Self.token("^P", JSONPatch(from: old, to: new).document.text, below: limit)
        else { return nil }
        return (token, new)
    }

    private static func token(_ mark: String, _ diff: String, below limit: Int) -> [UInt8]? {
        var token = Array(mark.utf8)
        escape(diff, isWholeToken: false, into: &token)
        return token.count < limit ? token : nil
    }

    /// Appends a value with its escapes; a whole token also escapes a leading `#`, `$` or `^`.
    private static func escape(_ text: String, isWholeToken: Bool, into bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { escape($0, isWholeToken: isWholeToken, into: &bytes) }
    }

    /// Appends run by run; a run ends where a byte needs an escape.
    private static func escape(_ text: UnsafeBufferPointer<UInt8>, isWholeToken: Bool, into bytes: inout [UInt8]) {
        var runStart = 0
        for index in text.indices {
            let byte = text[index]
            let needsEscape =
                switch byte {
                case UInt8(ascii: "%"), UInt8(ascii: "|"), 0..<0x20: true
                case UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "^"): index == 0 && isWholeToken
                default: false
                }
            if !needsEscape { continue }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[runStart..<index]))
            PercentCoding.escape(byte, into: &bytes)
            runStart = index + 1
        }
        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[runStart...]))
    }
}
