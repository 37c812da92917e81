internal import JSONText

/// Writes the parameters of one line, `&` between them.
struct ParameterWriter {
    private var bytes: [UInt8]
    private var lineStart: Int

    /// Takes the bytes to write behind; they are empty until `give(back:)`.
    init(taking bytes: inout [UInt8]) {
        self.bytes = []
        swap(&self.bytes, &bytes)
        lineStart = self.bytes.count
    }

    /// Returns the bytes, with what was written.
    consuming func give(back target: inout [UInt8]) { target = bytes }

    /// Starts another line.
    mutating func endLine() {
        bytes.append(UInt8(ascii: "\r"))
        bytes.append(UInt8(ascii: "\n"))
        lineStart = bytes.count
    }

    private mutating func begin(_ name: ParameterName) {
        if bytes.count > lineStart { bytes.append(UInt8(ascii: "&")) }
        bytes.append(contentsOf: name.rawValue.utf8)
        bytes.append(UInt8(ascii: "="))
    }

    /// Writes a text; nil: nothing.
    mutating func add(_ name: ParameterName, _ value: String?) {
        guard let value else { return }
        begin(name)
        PercentCoding.encode(parameter: value, into: &bytes)
    }

    /// Writes a whole number; nil: nothing.
    mutating func add(_ name: ParameterName, _ value: Int?) {
        guard let value else { return }
        begin(name)
        bytes.append(decimal: value)
    }

    /// Writes a truth value; nil: nothing.
    mutating func add(_ name: ParameterName, _ value: Bool?) {
        add(name, value.map { $0 ? "true" : "false" })
    }

    /// Writes a truth value only where it is not the default.
    mutating func add(_ name: ParameterName, _ value: Bool, unless defaultValue: Bool) {
        if value != defaultValue { add(name, value) }
    }
}
