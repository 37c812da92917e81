import JSONText

@testable import Gateway

/// Reads a JSON text as an object, with a list of refusals.
func reader(_ text: String) throws -> ObjectReader {
    ObjectReader(try JSONValue(parsing: text).object ?? JSONObject(), Refusals())
}

extension Refusals {
    /// The pointers of all refusals.
    var pointers: [String] {
        entries.map { entry in
            switch entry.location {
            case .body(let pointer): pointer.description
            case .parameter(let name): name
            }
        }
    }
}
