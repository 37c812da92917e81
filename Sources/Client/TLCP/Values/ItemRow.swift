internal import JSONText

/// The present values of one item: the base of "unchanged" tokens and of diffs.
///
/// From a JSON Patch until the next full value or null a field is a document, whose compact text is its value. The text is parsed
/// again for each patch: the parsed document would take many times its memory.
package struct ItemRow: Sendable, Equatable {
    /// The largest value that accepts diffs, in bytes. The work for a diff is that of the value, however short the diff.
    package static let largestDiffBase = 512 * 1024
    /// The most bytes that the values which one update changes by diffs may have together.
    package static let largestDiffBases = 4 * largestDiffBase

    /// The value of each field, nil for null.
    package private(set) var values: [String?]
    /// Whether an update has been applied; there is no base before the first one.
    private var hasBase = false
    /// The fields that are documents, by index from 0.
    private var documents: Set<Int> = []

    /// A row without a base.
    package init(fieldCount: Int) { values = [String?](repeating: nil, count: fieldCount) }

    /// A row that continues from the values of an earlier one.
    package init(continuing values: [String?]) {
        self.values = values
        hasBase = true
    }

    /// Applies the field list of one update.
    ///
    /// After an error part of the list may have been applied: the row must be discarded, with its session or, after
    /// `baseTooLarge`, with its subscription.
    package mutating func apply(_ list: FieldList) throws(TLCPError) -> RowChange {
        var change = RowChange(changed: FieldSet(), patches: [:])
        let covered = try list.bytes.withUnsafeBufferPointer { bytes throws(TLCPError) -> Int in
            var field = 0
            var index = 0
            var budget: DiffBudget?
            while true {
                let start = index
                var hasEscape = false
                var seen: UInt8 = 0
                while index < bytes.count {
                    let byte = bytes[index]
                    if byte == UInt8(ascii: "|") { break }
                    if byte == UInt8(ascii: "%") { hasEscape = true }
                    seen |= byte
                    index += 1
                }
                let token = TokenBytes(rebasing: bytes[start..<index])
                let content: TokenContent = hasEscape ? .escaped : seen < 0x80 ? .ascii : .unicode
                field += try apply(token, content, at: field, &change, &budget)
                if index == bytes.count { return field }
                index += 1
            }
        }
        guard covered == values.count else { throw .fieldCountMismatch(expected: values.count) }
        if !hasBase {
            change.changed = FieldSet(all: values.count)
            hasBase = true
        }
        return change
    }

    /// Applies one token, which begins at this field index; returns the number of fields that it covers.
    private mutating func apply(
        _ token: TokenBytes,
        _ content: TokenContent,
        at field: Int,
        _ change: inout RowChange,
        _ budget: inout DiffBudget?
    ) throws(TLCPError) -> Int {
        guard field < values.count else { throw .fieldCountMismatch(expected: values.count) }
        guard let first = token.first else {
            try keep(1, from: field, &change)
            return 1
        }
        switch first {
        case UInt8(ascii: "#") where token.count == 1: set(nil, at: field, &change)
        case UInt8(ascii: "$") where token.count == 1: set("", at: field, &change)
        case UInt8(ascii: "^"): return try applyMarked(token, at: field, &change, &budget)
        default: try setValue(token, content, at: field, &change)
        }
        return 1
    }

    /// Applies a token that starts with `^`.
    private mutating func applyMarked(
        _ token: TokenBytes,
        at field: Int,
        _ change: inout RowChange,
        _ budget: inout DiffBudget?
    ) throws(TLCPError) -> Int {
        let body = TokenBytes(rebasing: token.dropFirst(2))
        let mark = token.dropFirst().first
        switch mark {
        case UInt8(ascii: "P"), UInt8(ascii: "T"):
            var rest = budget ?? DiffBudget()
            if mark == UInt8(ascii: "P") {
                try patch(body, at: field, &change, &rest)
            } else {
                try applyDiff(body, at: field, &change, &rest)
            }
            budget = rest
            return 1
        default:
            guard mark != UInt8(ascii: "0"), let count = WireNumber.count(token.dropFirst()) else {
                throw .field(position: field + 1, .unknownToken)
            }
            guard count <= values.count - field else { throw .fieldCountMismatch(expected: values.count) }
            try keep(count, from: field, &change)
            return count
        }
    }
}

extension ItemRow {
    /// The bytes of a token, or of the whole list.
    private typealias TokenBytes = UnsafeBufferPointer<UInt8>

    /// The kind of bytes in a token, found by one pass over them.
    private enum TokenContent {
        case ascii, unicode, escaped
    }

    private func keep(_ count: Int, from field: Int, _ change: inout RowChange) throws(TLCPError) {
        guard hasBase else { throw .field(position: field + 1, .unchangedWithoutBaseline) }
        if documents.isEmpty { return }
        for index in field..<field + count where documents.contains(index) { change.patches[index + 1] = "[]" }
    }

    private mutating func set(_ value: String?, at field: Int, _ change: inout RowChange) {
        if !documents.isEmpty { documents.remove(field) }
        switch (values[field], value) {
        case (nil, nil): return
        case (let old?, let new?) where old.hasSameBytes(as: new): return
        default: break
        }
        values[field] = value
        change.changed.insert(field + 1)
    }

    private mutating func setValue(
        _ token: TokenBytes,
        _ content: TokenContent,
        at field: Int,
        _ change: inout RowChange
    ) throws(TLCPError) {
        if content == .escaped { return set(try text(token, at: field), at: field, &change) }
        if !documents.isEmpty { documents.remove(field) }
        // A value equal to the present one needs no new string.
        if let old = values[field], old.hasSameBytes(as: token) { return }
        // ASCII is always valid, and validation costs more than the copy.
        let value =
            content == .ascii ? String(decoding: token, as: UTF8.self) : String(validating: token, as: UTF8.self)
        guard let value else { throw .field(position: field + 1, .invalidUTF8) }
        values[field] = value
        change.changed.insert(field + 1)
    }

    private func text(_ token: TokenBytes, at field: Int) throws(TLCPError) -> String {
        guard let bytes = PercentCoding.unescaped(token, plusIsSpace: false) else {
            throw .field(position: field + 1, .malformedEscape)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .field(position: field + 1, .invalidUTF8)
        }
        return text
    }

    /// The value that a diff changes.
    private func diffBase(at field: Int, _ budget: inout DiffBudget) throws(TLCPError) -> String {
        guard hasBase, let base = values[field] else { throw .field(position: field + 1, .diffWithoutBase) }
        budget.bases -= base.utf8.count
        guard base.utf8.count <= Self.largestDiffBase, budget.bases >= 0 else {
            throw .field(position: field + 1, .baseTooLarge)
        }
        return base
    }

    private mutating func applyDiff(
        _ body: TokenBytes,
        at field: Int,
        _ change: inout RowChange,
        _ budget: inout DiffBudget
    ) throws(TLCPError) {
        guard !documents.contains(field) else { throw .field(position: field + 1, .diffOnDocument) }
        let base = try diffBase(at: field, &budget)
        guard let result = TLCPDiff.apply(try text(body, at: field), to: base) else {
            throw .field(position: field + 1, .malformedDiff)
        }
        set(result, at: field, &change)
    }

    private mutating func patch(
        _ body: TokenBytes,
        at field: Int,
        _ change: inout RowChange,
        _ budget: inout DiffBudget
    ) throws(TLCPError) {
        let base = try diffBase(at: field, &budget)
        let text = try text(body, at: field)
        guard let document = try? JSONValue(parsing: base.utf8, admitsDuplicates: true) else {
            throw .field(position: field + 1, .baseNotJSON)
        }
        guard let patch = try? JSONPatch(parsing: text.utf8),
            let result = try? patch.applied(to: document, within: &budget.patches)
        else { throw .field(position: field + 1, .patchFailed) }
        set(result.text, at: field, &change)
        documents.insert(field)
        change.patches[field + 1] = text
    }
}

/// What the diffs of one update may still cost. A short line can name many large values.
private struct DiffBudget {
    /// The bytes of the values that diffs change. A TLCP-diff copies no byte twice, so that results are bounded as well.
    var bases = ItemRow.largestDiffBases
    /// The work of JSON Patches, and what they add.
    var patches = JSONPatch.Budget()
}

/// The effect of one field list on a row.
package struct RowChange: Sendable, Hashable {
    /// The positions of the fields whose value changed; all of them in the first update of an item.
    package var changed: FieldSet
    /// The JSON Patch for each field held as a document: as sent by the server, or `[]` for an unchanged field.
    package var patches: [Int: String]
}
