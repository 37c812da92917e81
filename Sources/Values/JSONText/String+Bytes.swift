extension String {
    /// Whether both strings have the same UTF-8 bytes, whereas `==` also equates canonically equivalent texts.
    package func hasSameBytes(as other: String) -> Bool {
        let left = utf8
        let right = other.utf8
        guard left.count == right.count else { return false }
        let fast = left.withContiguousStorageIfAvailable { left in
            right.withContiguousStorageIfAvailable { right in left.hasSameBytes(as: right) }
        }
        return (fast ?? nil) ?? left.elementsEqual(right)
    }

    /// Whether the UTF-8 bytes of the string are these bytes.
    package func hasSameBytes(as bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard utf8.count == bytes.count else { return false }
        return utf8.withContiguousStorageIfAvailable { $0.hasSameBytes(as: bytes) } ?? utf8.elementsEqual(bytes)
    }

    /// Feeds the UTF-8 bytes to a hasher, consistently with `hasSameBytes(as:)`.
    package func hashBytes(into hasher: inout Hasher) {
        var text = self
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // A terminator that UTF-8 never contains keeps neighbouring strings apart.
        hasher.combine(0xFF as UInt8)
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Equal bytes, compared word by word.
    fileprivate func hasSameBytes(as other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard count == other.count else { return false }
        let left = UnsafeRawBufferPointer(self)
        let right = UnsafeRawBufferPointer(other)
        var index = 0
        while index + 8 <= count {
            let word = left.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            if word != right.loadUnaligned(fromByteOffset: index, as: UInt64.self) { return false }
            index += 8
        }
        while index < count {
            if left[index] != right[index] { return false }
            index += 1
        }
        return true
    }
}
