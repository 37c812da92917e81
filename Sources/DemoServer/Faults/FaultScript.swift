internal import TLCP

/// Faults as text, for tests that run in another process; `manual` describes the syntax.
package enum FaultScript {
    package static func parse(_ text: String) throws(FaultScriptError) -> [Fault] {
        var faults: [Fault] = []
        for line in text.split(whereSeparator: { $0 == ";" || $0.isNewline }) {
            let words = line.prefix { $0 != "#" }.split(separator: " ").map(String.init)
            guard let name = words.first else { continue }
            var arguments = try FaultArguments(words.dropFirst(), of: name)
            let fault = try Fault(
                effect(name, &arguments),
                at: moment(&arguments),
                skip: arguments.number("skip", in: 0...1_000_000_000, default: 0),
                times: times(&arguments)
            )
            try arguments.end()
            faults.append(fault)
        }
        return faults
    }

    private static func times(_ arguments: inout FaultArguments) throws(FaultScriptError) -> Int {
        if arguments.first("times") == "always" { return .max }
        return try arguments.number("times", in: 1...1_000_000_000, default: 1)
    }

    private static func moment(_ arguments: inout FaultArguments) throws(FaultScriptError) -> FaultMoment? {
        guard let text = arguments.first("at") else { return nil }
        if text == "now" { return .now }
        if text.hasPrefix("data:"), let count = Int(text.dropFirst(5)), count > 0 { return .data(count) }
        guard let request = FaultRequest(rawValue: text) else { throw arguments.invalid("at") }
        return .request(request)
    }

    private static func effect(_ name: String, _ arguments: inout FaultArguments) throws(FaultScriptError)
        -> FaultEffect
    {
        switch name {
        case "drop": .drop
        case "half-open": .halfOpen
        case "ignore": .ignore
        case "lose-answer": .loseAnswer
        case "duplicate-answer": .duplicateAnswer
        case "late-answers": .lateAnswers
        case "hold-stream": .holdStream
        case "refuse-recovery": .refuseRecovery
        case "one-line-per-write": .oneLinePerWrite
        case "repeat-data": .repeatData
        case "skip-data": .skipData
        case "raw-commas": .rawCommas
        case "cut-line": .cutLine(after: try arguments.optionalNumber("bytes", in: 0...1_000_000_000))
        case "mute": .mute(.boundedMilliseconds(try arguments.number("ms", in: 0...1_000_000_000)))
        case "stall": .stall(.boundedMilliseconds(try arguments.number("ms", in: 0...1_000_000_000)))
        case "delay": .delay(.boundedMilliseconds(try arguments.number("ms", in: 0...1_000_000_000)))
        case "loop": .loop(delayMilliseconds: try arguments.number("ms", in: 0...1_000_000_000, default: 0))
        case "end": .end(code: try arguments.number("code"), message: arguments.first("text") ?? "")
        case "refuse": .refuse(code: try arguments.number("code"), message: arguments.first("text") ?? "")
        case "error": .error(code: try arguments.number("code"), message: arguments.first("text") ?? "")
        case "status": .status(try arguments.number("code", in: 200...599))
        case "wrong-counts":
            .wrongCounts(
                items: try arguments.number("items", default: 0),
                fields: try arguments.number("fields", default: 0)
            )
        case "progress": .progress(try arguments.number("by"))
        case "control-link": .controlLink(try arguments.required("address"))
        case "content-length": .contentLength(try arguments.number("bytes", in: 0...1_000_000_000))
        case "split": .split(maxLength: try arguments.number("bytes", in: 1...1_000_000_000))
        case "client-address": .clientAddress(try arguments.required("address"))
        case "inject": .inject(try arguments.lines("line"))
        default: throw FaultScriptError(effect: name, argument: nil)
        }
    }
}

package struct FaultScriptError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name of the effect in the script.
    package let effect: String
    /// The argument that is missing or invalid; nil if there is no such effect.
    package let argument: String?

    package var description: String {
        argument.map { "\(effect): missing or invalid \($0)" } ?? "no such effect: \(effect)"
    }
}

/// The `name=value` pairs of one line of a `FaultScript`; an argument that the effect does not have is an error.
struct FaultArguments: Sendable {
    private let effect: String
    private var pairs: [(name: String, value: String)] = []
    private var known: Set<String> = []

    /// Parses the words after the name of the effect.
    init(_ words: some Sequence<String>, of effect: String) throws(FaultScriptError) {
        self.effect = effect
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let value = PercentCoding.decode(parameter: Array(parts[1].utf8)[...]) else {
                throw invalid(word)
            }
            pairs.append((String(parts[0]), value))
        }
    }

    /// The error of an argument that is missing or invalid.
    func invalid(_ name: String) -> FaultScriptError { FaultScriptError(effect: effect, argument: name) }

    /// Throws if there is an argument that was not read.
    func end() throws(FaultScriptError) {
        if let unknown = pairs.first(where: { !known.contains($0.name) }) { throw invalid(unknown.name) }
    }

    /// All values of a name, in order; at least one.
    mutating func lines(_ name: String) throws(FaultScriptError) -> [String] {
        known.insert(name)
        let lines = pairs.filter { $0.name == name }.map(\.value)
        guard !lines.isEmpty else { throw invalid(name) }
        return lines
    }

    mutating func first(_ name: String) -> String? {
        known.insert(name)
        return pairs.first { $0.name == name }?.value
    }

    /// A required value.
    mutating func required(_ name: String) throws(FaultScriptError) -> String {
        guard let value = first(name) else { throw invalid(name) }
        return value
    }

    /// An integer; required unless there is a default.
    mutating func number(
        _ name: String,
        in bounds: ClosedRange<Int> = -1_000_000_000...1_000_000_000,
        default standard: Int? = nil
    ) throws(FaultScriptError) -> Int {
        guard let number = try optionalNumber(name, in: bounds) ?? standard else { throw invalid(name) }
        return number
    }

    /// An integer; nil if it is absent.
    mutating func optionalNumber(_ name: String, in bounds: ClosedRange<Int>) throws(FaultScriptError) -> Int? {
        guard let text = first(name) else { return nil }
        guard let number = Int(text), bounds.contains(number) else { throw invalid(name) }
        return number
    }
}

extension FaultScript {
    /// The syntax of fault scripts, as the command help prints it.
    package static let manual = """
        A fault script has one fault a line, or several between semicolons: an effect, then NAME=VALUE pairs in any \
        order. Values are percent-encoded (%20 for a space). Empty lines and what follows # are ignored.

          at=       when: now (on all streams), data:COUNT (once a stream has carried so many data notifications), or \
        a request: handshake wsok create bind recovery streaming add delete reconf constrain force_rebind destroy mpn \
        msg heartbeat control; without it the moment in brackets
          skip=N    occasions to skip first
          times=N   number of occasions, or always; default 1

        Connections:
          drop                   the connection is cut; its session can be recovered [now]
          cut-line [bytes=N]     the connection is cut after N bytes of the next line, or in its middle [now]
          mute ms=N              writes are lost for this time [now]
          stall ms=N             writes are delayed for this time [now]
          half-open              nothing is read or written, and the connection stays open [now]
          split bytes=N          every write is cut into random pieces of at most N bytes [streaming]
          one-line-per-write     every line is a message or chunk of its own [streaming]
          hold-stream            an HTTP stream is held back until it ends, as by a buffering proxy [streaming]
          content-length bytes=N LOOP comes after so many bytes, over WebSocket too [streaming]

        Requests:
          refuse code=N [text=T] CONERR for create and bind, REQERR for the others, 403 for a handshake [control]
          error code=N [text=T]  ERROR [control]
          status code=N          an HTTP status, 200 … 599; the request is not executed [handshake]
          ignore                 the request is neither executed nor answered [control]
          lose-answer            the request is executed, the response is lost [control]
          delay ms=N             the request is executed, the response is delayed [control]
          duplicate-answer       the response is sent twice [control]
          late-answers           the responses of a batch come last, in reverse order [control]
          raw-commas             commas in the response are not escaped [control]

        Sessions:
          loop [ms=N]            the stream ends with LOOP,N [now]
          end code=N [text=T]    the session ends with END; a bind receives it in place of CONOK [now]
          wrong-counts [items=N] [fields=N]  added to the counts of SUBOK and SUBCMD [add]
          progress by=N          PROG is N higher than the data that follows; negative: restart earlier [recovery]
          refuse-recovery        CONERR,4 [recovery]
          repeat-data            the last data notification is written again, uncounted [now]
          skip-data              the next data notification is counted and not written [now]
          inject line=T …        these lines are written as they are [now]
          control-link address=T CONOK has this control link [streaming]
          client-address address=T  CLIENTIP has this address [streaming]

        Examples: "drop at=data:5", "refuse code=7 text=Full at=create times=2", "loop at=add skip=1", \
        "progress by=3;drop".
        """
}
