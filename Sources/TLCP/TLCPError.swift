/// Why bytes from the server cannot be understood. Its reach is the session: a client that meets one reports local
/// error 61 and gives the session up.
package enum TLCPError: Error, Hashable, Sendable {
    /// A line grew beyond the limit without an end.
    case lineTooLong(limit: Int)
    /// A known tag with fewer arguments than it has; the position counts from 1.
    case missingArgument(tag: String, position: Int)
    /// An argument that is not what its place demands, such as a number; the position counts from 1.
    case malformedArgument(tag: String, position: Int)
    /// `%` without two hexadecimal digits.
    case malformedEscape
    /// Bytes that are not UTF-8.
    case invalidUTF8
    /// The field list does not cover exactly the fields of the schema.
    case fieldCountMismatch(expected: Int)
    /// Something wrong with the token of one field; the position counts from 1.
    case field(position: Int, FieldFault)
}

/// What can be wrong with the token of one field.
package enum FieldFault: Hashable, Sendable {
    /// "Unchanged" in the first update of an item.
    case unchangedWithoutBaseline
    /// `^` followed by anything but `P`, `T` or a count from 1.
    case unknownToken
    /// `%` without two hexadecimal digits.
    case malformedEscape
    /// Bytes that are not UTF-8.
    case invalidUTF8
    /// A diff of either format where the field is null or the item had no update yet.
    case diffWithoutBase
    /// A TLCP-diff where the field is held as a JSON document.
    case diffOnDocument
    /// A TLCP-diff that is malformed or does not fit its base.
    case malformedDiff
    /// A JSON Patch where the field's text is not JSON.
    case baseNotJSON
    /// A JSON Patch that is malformed or cannot be applied.
    case patchFailed
}

extension TLCPError: CustomStringConvertible {
    /// A phrase for people.
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
