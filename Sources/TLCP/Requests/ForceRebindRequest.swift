/// `LS_op=force_rebind`: makes the server end the stream connection with `LOOP`.
package struct ForceRebindRequest: Sendable, Hashable {
    static let operation = "force_rebind"

    /// The expected time before the next bind, in milliseconds; nil: not said.
    package var pollingMillis: Int?
    /// Whether the server also closes the socket of the stream connection.
    package var closesSocket: Bool
    /// Why, for diagnosis.
    package var cause: String?

    /// A request.
    package init(pollingMillis: Int? = nil, closesSocket: Bool = false, cause: String? = nil) {
        self.pollingMillis = pollingMillis
        self.closesSocket = closesSocket
        self.cause = cause
    }

    func write(to line: inout ParameterWriter) {
        line.add(.operation, Self.operation)
        line.add(.pollingMillis, pollingMillis)
        line.add(.closeSocket, closesSocket, unless: false)
        line.add(.cause, cause)
    }

    init(reading parameters: ParameterReader) throws(RequestRefusal) {
        pollingMillis = try parameters.count(.pollingMillis)
        closesSocket = try parameters.flag(.closeSocket, default: false)
        cause = parameters.text(.cause)
    }
}
