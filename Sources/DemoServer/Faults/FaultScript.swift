/// Faults as text, for tests that run outside of this process.
///
/// One fault a line, or several between semicolons: the name of the effect, then `name=value` pairs in any order. Values
/// are percent-encoded like parameters of requests (`%20` for a space). Empty lines and what follows `#` are ignored.
///
///     drop at=data:5                        cut the connection after 5 data notifications
///     refuse code=7 text=Full at=create times=2
///     mute ms=800                           now, on all streams
///     delay ms=300 at=wsok
///     progress by=-2                        at the next recovery
///     wrong-counts items=1 fields=-1 skip=1
///     inject line=FOOBAR,1 line=
///
/// `at`: `now`, `data:<count>`, or a request (`handshake wsok create bind recovery streaming add delete reconf constrain
/// force_rebind destroy mpn msg heartbeat control`); without it, the effect's natural moment. `skip`: occasions to let
/// pass. `times`: number of strikes, or `always`.
package enum FaultScript {
    /// Reads a script.
    package static func parse(_ text: String) throws(FaultScriptError) -> [Fault] {
        var faults: [Fault] = []
        for line in text.split(whereSeparator: { $0 == ";" || $0.isNewline }) {
            let words = line.prefix { $0 != "#" }.split(separator: " ").map(String.init)
            guard let name = words.first else { continue }
            let arguments = try FaultArguments(words.dropFirst(), of: name)
            let effect = try effect(name, arguments)
            try faults.append(
                Fault(
                    effect,
                    at: moment(arguments),
                    skip: arguments.number("skip", default: 0),
                    times: arguments.first("times") == "always" ? .max : arguments.number("times", default: 1)
                )
            )
        }
        return faults
    }

    private static func moment(_ arguments: FaultArguments) throws(FaultScriptError) -> FaultMoment? {
        guard let text = arguments.first("at") else { return nil }
        if text == "now" { return .now }
        if text.hasPrefix("data:"), let count = Int(text.dropFirst(5)), count > 0 { return .data(count) }
        guard let request = FaultRequest(rawValue: text) else {
            throw FaultScriptError(effect: arguments.effect, argument: "at")
        }
        return .request(request)
    }

    private static func effect(_ name: String, _ arguments: FaultArguments) throws(FaultScriptError) -> FaultEffect {
        switch name {
        case "drop": .drop
        case "cut-line": .cutLine
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
        default: try effectWithArguments(name, arguments)
        }
    }

    private static func effectWithArguments(
        _ name: String,
        _ arguments: FaultArguments
    ) throws(FaultScriptError) -> FaultEffect {
        let text = arguments.first("text") ?? ""
        return switch name {
        case "mute": .mute(.boundedMilliseconds(try arguments.number("ms")))
        case "stall": .stall(.boundedMilliseconds(try arguments.number("ms")))
        case "delay": .delay(.boundedMilliseconds(try arguments.number("ms")))
        case "loop": .loop(delayMilliseconds: max(0, try arguments.number("ms", default: 0)))
        case "end": .end(code: try arguments.number("code"), message: text)
        case "refuse": .refuse(code: try arguments.number("code"), message: text)
        case "error": .error(code: try arguments.number("code"), message: text)
        case "status": .status(min(max(try arguments.number("code"), 200), 599))
        case "wrong-counts":
            .wrongCounts(
                items: try arguments.number("items", default: 0),
                fields: try arguments.number("fields", default: 0)
            )
        case "progress": .progress(try arguments.number("by"))
        case "control-link": .controlLink(try arguments.required("address"))
        case "content-length": .contentLength(try arguments.number("bytes"))
        case "split": .split(maxLength: try arguments.number("bytes"))
        case "client-address": .clientAddress(try arguments.required("address"))
        case "inject": .inject(arguments.all("line"))
        default: throw FaultScriptError(effect: name, argument: nil)
        }
    }
}
