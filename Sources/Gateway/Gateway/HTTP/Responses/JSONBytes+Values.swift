internal import JSONText
package import SessionCore
internal import SessionPool

/// JSON forms of values of the other modules.
extension JSONBytes {
    /// A number; a whole number is written without a fraction.
    package mutating func shortest(_ value: Double) {
        if let whole = Int(exactly: value) { number(whole) } else { number(value) }
    }

    /// A whole number, or null.
    package mutating func member(_ name: StaticString, _ value: Int?) {
        key(name)
        if let value { number(value) } else { null() }
    }

    /// A number, or null.
    package mutating func member(_ name: StaticString, _ value: Double?) {
        key(name)
        if let value { shortest(value) } else { null() }
    }

    /// A count.
    package mutating func member(_ name: StaticString, _ value: UInt64) {
        member(name, Int(clamping: value))
    }

    /// A list of strings, or null.
    package mutating func member(_ name: StaticString, _ values: [String]?) {
        key(name)
        guard let values else {
            null()
            return
        }
        beginArray()
        for value in values { string(value) }
        endArray()
    }

    /// An error code and message of the server, or null.
    package mutating func write(_ refusal: UpstreamRefusal?) {
        guard let refusal else {
            null()
            return
        }
        beginObject()
        member("code", refusal.code)
        member("message", refusal.message)
        endObject()
    }

    /// `requestedSnapshot`.
    package mutating func write(_ snapshot: RequestedSnapshot?) {
        switch snapshot {
        case .yes: string("yes")
        case .no: string("no")
        case .length(let length): number(length)
        case nil: null()
        }
    }

    /// `requestedMaxFrequency`.
    package mutating func write(_ frequency: RequestedMaxFrequency?) {
        switch frequency {
        case .limited(let limit): shortest(limit)
        case .unlimited: string("unlimited")
        case .unfiltered: string("unfiltered")
        case nil: null()
        }
    }

    /// `requestedBufferSize`.
    package mutating func write(_ size: RequestedBufferSize?) {
        switch size {
        case .limited(let limit): number(limit)
        case .unlimited: string("unlimited")
        case nil: null()
        }
    }

    /// `realMaxFrequency`.
    package mutating func write(_ frequency: RealMaxFrequency?) {
        switch frequency {
        case .limited(let limit): shortest(limit)
        case .unlimited: string("unlimited")
        case nil: null()
        }
    }

    /// `realMaxBandwidth`.
    package mutating func write(_ bandwidth: RealMaxBandwidth?) {
        switch bandwidth {
        case .limited(let limit): shortest(limit)
        case .unlimited: string("unlimited")
        case .unmanaged: string("unmanaged")
        case nil: null()
        }
    }

    /// `requestedMaxBandwidth`.
    package mutating func write(_ bandwidth: RequestedMaxBandwidth) {
        switch bandwidth {
        case .limited(let limit): shortest(limit)
        case .unlimited: string("unlimited")
        }
    }

    /// `connectTimeout`.
    package mutating func write(_ timeout: ConnectTimeout) {
        switch timeout {
        case .auto: string("auto")
        case .seconds(let seconds): shortest(seconds)
        }
    }
}

extension Duration {
    /// Seconds with three decimals; not below 0.
    package var roundedSeconds: Double {
        let (seconds, attoseconds) = components
        return max((Double(seconds) * 1000 + Double(attoseconds) / 1e15).rounded() / 1000, 0)
    }
}
