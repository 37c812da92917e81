/// `LS_op=constrain`: changes the bandwidth limit of the session.
package struct ConstrainRequest: Sendable, Hashable {
    static let operation = "constrain"

    /// The limit wanted; nil: no change.
    package var maxBandwidth: RequestedBandwidth?

    /// A request.
    package init(maxBandwidth: RequestedBandwidth?) { self.maxBandwidth = maxBandwidth }

    func write(to line: inout ParameterWriter) {
        line.add(.operation, Self.operation)
        line.add(.maxBandwidth, maxBandwidth?.wire)
    }

    init(reading parameters: ParameterReader) throws(RequestRefusal) {
        maxBandwidth = try parameters.value(.maxBandwidth, RequestedBandwidth.init(wire:))
    }
}
