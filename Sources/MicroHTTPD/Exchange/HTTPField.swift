/// One header line of a request or response.
package struct HTTPField: Sendable, Hashable {
    /// The name as written on the wire; comparisons ignore its case.
    package var name: String
    /// The value without surrounding white space. Bytes that are not UTF-8 are replaced by U+FFFD.
    package var value: String

    /// A header line. In responses, a line with a name or value that is not allowed on the wire is left out.
    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Compares the name, whatever its case.
    func isNamed(_ name: String) -> Bool {
        self.name.equalsIgnoringASCIICase(name)
    }
}
