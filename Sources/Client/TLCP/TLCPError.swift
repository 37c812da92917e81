/// A violation of the protocol in the bytes from the server. It affects the session: the client reports error 61 and
/// closes the session. Only `baseTooLarge` is a limit of this client, and ends the subscription alone.
package enum TLCPError: Error, Hashable, Sendable {
    /// A line longer than the limit.
    case lineTooLong(limit: Int)
    /// A notification that lacks an argument; the position counts from 1.
    case missingArgument(tag: String, position: Int)
    /// An argument with the wrong syntax; the position counts from 1.
    case malformedArgument(tag: String, position: Int)
    /// `%` without two hexadecimal digits.
    case malformedEscape
    /// Bytes that are not UTF-8.
    case invalidUTF8
    /// A field list with more or fewer fields than the schema.
    case fieldCountMismatch(expected: Int)
    /// An error in the token of one field; the position counts from 1.
    case field(position: Int, FieldFault)
}

/// An error in the token of one field.
package enum FieldFault: Hashable, Sendable {
    /// An "unchanged" token in the first update of an item.
    case unchangedWithoutBaseline
    /// `^` followed by anything but `P`, `T` or a count from 1.
    case unknownToken
    /// `%` without two hexadecimal digits.
    case malformedEscape
    /// Bytes that are not UTF-8.
    case invalidUTF8
    /// A diff of either format where the field is null or the item has had no update.
    case diffWithoutBase
    /// A TLCP-diff for a field that a JSON Patch has changed before.
    case diffOnDocument
    /// A TLCP-diff that is malformed or exceeds its base.
    case malformedDiff
    /// A diff of either format for a value that is too large to accept diffs, alone or with the others of its update.
    case baseTooLarge
    /// A JSON Patch for a field whose text is not JSON.
    case baseNotJSON
    /// A JSON Patch that is malformed or cannot be applied.
    case patchFailed
}

extension TLCPError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .lineTooLong(let limit): "line longer than \(limit) bytes"
        case .missingArgument(let tag, let position): "\(tag) lacks argument \(position)"
        case .malformedArgument(let tag, let position): "\(tag) has a malformed argument \(position)"
        case .malformedEscape: "malformed percent escape"
        case .invalidUTF8: "invalid UTF-8"
        case .fieldCountMismatch(let expected): "field list does not cover exactly \(expected) fields"
        case .field(let position, let fault): "field \(position): \(fault)"
        }
    }
}

extension FieldFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unchangedWithoutBaseline: "unchanged in the first update of its item"
        case .unknownToken: "unknown token"
        case .malformedEscape: "malformed percent escape"
        case .invalidUTF8: "invalid UTF-8"
        case .diffWithoutBase: "a difference from a value that does not exist"
        case .diffOnDocument: "a TLCP-diff of a value that a JSON Patch has changed"
        case .malformedDiff: "malformed TLCP-diff"
        case .baseTooLarge: "a difference from a value that is too large for differences"
        case .baseNotJSON: "a JSON Patch of a text that is not JSON"
        case .patchFailed: "a JSON Patch that cannot be applied"
        }
    }
}
