package import SessionCore

/// The description of one connection option: name, type, limits, defaults, meaning, and when a change takes effect.
///
/// The REST views and patches, the upstream options of the configuration and the tables of the documentation are made
/// from these descriptions or tested against them.
package struct ConnectionOption: Sendable {
    /// The path to a value among the options.
    package typealias Path<Value> = any WritableKeyPath<ConnectionOptionValues, Value> & Sendable

    /// The type of an option, with the place of its value.
    package enum Storage: Sendable {
        /// A number of seconds; `zeroAllowed`: 0 is a valid value.
        case seconds(Path<Double>, zeroAllowed: Bool)
        /// A number of bytes greater than 0.
        case bytes(Path<UInt64>)
        /// True or false.
        case flag(Path<Bool>)
        /// A transport, or nil.
        case transport(Path<ForcedTransport?>)
        /// Header names with their values, or nil.
        case headers(Path<[String: String]?>)
        /// `unlimited`, or a number of kbit/s greater than 0.
        case bandwidth(Path<RequestedMaxBandwidth>)
        /// `auto`, or a number of seconds greater than 0.
        case connectTimeout(Path<ConnectTimeout>)
    }

    /// When a change of an option takes effect.
    package enum Effect: String, Sendable, CaseIterable {
        /// At once, also for an open session.
        case immediately = "at once"
        /// The next time that the value is needed: when its timer starts or its request is sent.
        case nextUse = "at the next use"
        /// When the next connection is opened or bound to the session.
        case nextConnection = "with the next connection"
        /// When the next session is created.
        case nextSession = "with the next session"
    }

    /// The name of the class reference, as `didChangeProperty` reports it.
    package let name: String
    /// The type and the place of the value.
    package let storage: Storage
    /// When a change takes effect.
    package let effect: Effect
    /// The meaning, in one sentence or two.
    package let meaning: String

    init(_ name: String, _ storage: Storage, _ effect: Effect, _ meaning: String) {
        self.name = name
        self.storage = storage
        self.effect = effect
        self.meaning = meaning
    }
}

// MARK: - Values

extension ConnectionOption {
    /// Whether two sets of options differ in this option.
    package func differs(_ one: ConnectionOptionValues, _ other: ConnectionOptionValues) -> Bool {
        var copy = one
        self.copy(from: other, to: &copy)
        return copy != one
    }

    /// Copies this option from one set of options into another.
    package func copy(from source: ConnectionOptionValues, to target: inout ConnectionOptionValues) {
        switch storage {
        case .seconds(let path, _): target[keyPath: path] = source[keyPath: path]
        case .bytes(let path): target[keyPath: path] = source[keyPath: path]
        case .flag(let path): target[keyPath: path] = source[keyPath: path]
        case .transport(let path): target[keyPath: path] = source[keyPath: path]
        case .headers(let path): target[keyPath: path] = source[keyPath: path]
        case .bandwidth(let path): target[keyPath: path] = source[keyPath: path]
        case .connectTimeout(let path): target[keyPath: path] = source[keyPath: path]
        }
    }

    /// The value as text: numbers without a useless fraction, `none` for nil. Header values are left out.
    package func text(in values: ConnectionOptionValues) -> String {
        switch storage {
        case .seconds(let path, _): NumberText.of(values[keyPath: path])
        case .bytes(let path): "\(values[keyPath: path])"
        case .flag(let path): "\(values[keyPath: path])"
        case .transport(let path): values[keyPath: path]?.rawValue ?? "none"
        case .headers(let path): values[keyPath: path]?.keys.sorted().joined(separator: ", ") ?? "none"
        case .bandwidth(let path): values[keyPath: path].text
        case .connectTimeout(let path): values[keyPath: path].text
        }
    }

    /// Reads the value from text, as `text(in:)` writes it; header fields are lines of `Name: value`.
    ///
    /// - Throws: `invalidValue` for a text of another form, or for a value outside the limits.
    package func read(_ text: String, into target: inout ConnectionOptionValues) throws(ClientError) {
        var values = target
        switch storage {
        case .seconds(let path, _):
            guard let seconds = NumberText.plain(text) else { throw refusal(of: text) }
            values[keyPath: path] = seconds
        case .bytes(let path): values[keyPath: path] = UInt64(try NumberText.positiveInteger(text, name, limits))
        case .flag(let path): values[keyPath: path] = try flag(text)
        case .transport(let path):
            guard let transport = ForcedTransport(rawValue: text) else { throw refusal(of: text) }
            values[keyPath: path] = transport
        case .headers(let path): values[keyPath: path] = try headerFields(text)
        case .bandwidth(let path): values[keyPath: path] = try RequestedMaxBandwidth(text: text)
        case .connectTimeout(let path): values[keyPath: path] = try ConnectTimeout(text: text)
        }
        if let violation = violation(in: values) { throw violation }
        target = values
    }

    private func flag(_ text: String) throws(ClientError) -> Bool {
        switch text {
        case "true": true
        case "false": false
        default: throw refusal(of: text)
        }
    }

    private func headerFields(_ text: String) throws(ClientError) -> [String: String] {
        var headers: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            if line.allSatisfy({ $0 == " " }) { continue }
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.last?.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()
            guard parts.count == 2, let value, headers.updateValue(String(value), forKey: String(parts[0])) == nil
            else {
                // The text may hold a secret.
                throw ClientError(.invalidValue, property: name, value: "", rule: "must be lines of Name: value")
            }
        }
        return headers
    }
}
