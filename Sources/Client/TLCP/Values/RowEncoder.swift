internal import JSONText

/// The counterpart of `ItemRow` in a server: the values sent for one item, and the encoding of the next ones.
package struct RowEncoder: Sendable {
    /// The values of the last update; nil before the first one.
    package private(set) var values: [String?]?
    /// The fields that the client holds as documents, by index from 0.
    private var documents: [Int: JSONValue] = [:]

    package init() {}

    /// Returns the field list for the next values, which become the base of the following ones.
    ///
    /// - Parameters:
    ///   - next: a value for each field.
    ///   - diffs: the allowed diff formats; a diff is used only if it is shorter than the value.
    ///   - fieldDiffs: the allowed formats of single fields, by 1-based position.
    ///   - minimumLength: the length in bytes below which a value is never sent as a diff.
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
        return values[field].hasSameBytes(as: next)
    }

    /// Appends the tokens of a run of unchanged fields that ends before a field: up to three empty
    /// tokens, else a count.
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

    /// A TLCP-diff token shorter than a limit; nil if not allowed or not possible.
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

    /// A JSON Patch token shorter than a limit, with the resulting document; nil if not allowed or not possible.
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

    /// Appends an escaped value; in a whole token a leading `#`, `$` or `^` is escaped as well.
    private static func escape(_ text: String, isWholeToken: Bool, into bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { escape($0, isWholeToken: isWholeToken, into: &bytes) }
    }

    /// Appends runs of bytes that need no escape, with the escapes between them.
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
