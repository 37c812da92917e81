/// All chunkings that tests use: one chunk, single bytes, and two chunks for each position.
package enum EverySplit {
    /// The chunkings of these bytes, the whole first.
    package static func of(_ bytes: [UInt8]) -> [[ArraySlice<UInt8>]] {
        let whole = [bytes[...]]
        let single = bytes.indices.map { bytes[$0...$0] }
        let halves = bytes.indices.map { [bytes[..<$0], bytes[$0...]] }
        return [whole, single] + halves
    }

    /// The chunkings of the bytes of a text.
    package static func of(_ text: String) -> [[ArraySlice<UInt8>]] { of(Array(text.utf8)) }
}
