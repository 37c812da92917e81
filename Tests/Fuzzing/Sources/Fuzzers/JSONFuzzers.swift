internal import JSONText

/// Accepted texts are written and parsed back unchanged.
@Sendable func fuzzJSON(_ input: ArraySlice<UInt8>) {
    guard let value = try? JSONValue(parsing: input) else { return }
    precondition((try? JSONValue(parsing: value.text)) == value, "written value differs")
}

/// Any patch applies or fails, and the difference of two values turns one into the other.
///
///     input = value NUL value or patch
@Sendable func fuzzJSONPatches(_ input: ArraySlice<UInt8>) {
    let texts = parts(of: input)
    guard texts.count > 1, let old = try? JSONValue(parsing: texts[0]) else { return }
    if let patch = try? JSONPatch(parsing: texts[1]) {
        precondition((try? JSONPatch(patch.document)) == patch, "written patch differs")
        if let result = try? patch.applied(to: old) {
            precondition((try? JSONValue(parsing: result.text)) == result, "patched value cannot be parsed")
        }
    }
    guard let new = try? JSONValue(parsing: texts[1]) else { return }
    let result = try? JSONPatch(from: old, to: new).applied(to: old)
    precondition(result?.isEquivalent(to: new) == true, "difference leads to another value")
}
