internal import Gateway
internal import JSONText
internal import Primitives
internal import SessionCore
internal import SessionPool

enum WatchEvent: Sendable, Equatable {
    /// The status of the connection, and why there is none.
    case status(String, failure: String? = nil)
    case update(WatchUpdate)
    /// Another event: its name and its content as text.
    case other(name: String, content: String)

    /// Whether the server has confirmed the subscription.
    var isOfSubscribedSource: Bool {
        switch self {
        case .update, .other(name: "subscribed", content: _): true
        case .other(name: "stream", let content):
            (try? JSONValue(parsing: content))?["sources"]?.array?.first?["subscribed"]?.bool ?? false
        case .status, .other: false
        }
    }
}

/// An update of an item.
struct WatchUpdate: Sendable, Equatable {
    /// A changed field with its value.
    struct Field: Sendable, Equatable {
        let name: String
        let value: String?
    }

    /// The name of the item, or its position.
    var item: String
    /// The key and the command, in COMMAND mode.
    var key: String?
    var command: String?
    var isSnapshot = false
    var fields: [Field] = []
}

/// The reason why `watch` ends with exit status 1.
struct WatchFailure: Error, Equatable {
    let sentence: String

    init(_ sentence: String) { self.sentence = sentence }

    /// The refusal of a session by a Lightstreamer server.
    static func serverError(_ code: Int, _ message: String) -> WatchFailure {
        let sentence = refusal("The server refused or closed the session", code, message, .session).sentence
        // Commands that connect to a server have an option for it.
        return WatchFailure(sentence.replacing("Correct adapterSet", with: "Correct --adapter-set"))
    }

    /// The refusal of a subscription by a Lightstreamer server, or by the gateway.
    static func subscriptionError(_ code: Int, _ message: String) -> WatchFailure {
        // A sentence of the gateway, which has not asked the server.
        if code == UpstreamRefusal.unopenedCode { return WatchFailure(message.printable) }
        let party = code == UpstreamRefusal.valuesCode ? "gateway" : "server"
        return refusal("The \(party) refused the subscription", code, message, .subscription)
    }

    static let removal = WatchFailure("The server removed the subscription.")

    /// Why a gateway's subscription is not active any more, from the resource or the `stream` event; nil if it is active,
    /// or its last session has only ended.
    static func end(of subscription: JSONValue) -> WatchFailure? {
        guard subscription["active"]?.bool == false, let error = subscription["lastError"], error.object != nil else {
            return nil
        }
        let code = error["code"]?.number?.intValue ?? 0
        if code == UpstreamRefusal.removalCode { return .removal }
        return .subscriptionError(code, error["message"]?.string ?? "")
    }

    private static func refusal(_ event: String, _ code: Int, _ message: String, _ kind: UpstreamCodes.Kind)
        -> WatchFailure
    {
        let text = message.isEmpty ? "" : ": \"\(message.printable)\""
        // A subscription may be refused with its session: then the code has a meaning for sessions.
        let known = [kind, .session].first { UpstreamCodes.meaning(of: code, kind: $0) != nil } ?? kind
        let meaning = UpstreamCodes.meaning(of: code, kind: known)
        let advice = [meaning, UpstreamCodes.cure(of: code, kind: known)].compactMap { $0.map { " \($0)" } }
        return WatchFailure("\(event) with code \(code)\(text).\(advice.joined())")
    }
}

extension String {
    /// The text without characters that could control a terminal, end a line or change the direction of text.
    var printable: String { printable(except: []) }

    /// The lines of the text without such characters other than tabs.
    var printableLines: String { replacing("\r\n", with: "\n").printable(except: ["\n", "\t"]) }

    private func printable(except kept: [Unicode.Scalar]) -> String {
        let scalars = unicodeScalars.map { $0.isPrintable || kept.contains($0) ? $0 : "\u{FFFD}" }
        return String(String.UnicodeScalarView(scalars))
    }
}

extension Unicode.Scalar {
    fileprivate var isPrintable: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: false
        case .format: !properties.isBidiControl
        default: true
        }
    }
}

/// Passes events to a display, until a number of updates has been shown.
final class WatchOutput: Sendable {
    private let display: any WatchDisplay
    private let limit: Int?
    private let count = RankedMutex(0)

    init(display: any WatchDisplay, limit: Int?) {
        self.display = display
        self.limit = limit
    }

    /// Passes a line of a gateway's stream to a display that shows the bytes themselves.
    func received(_ line: [UInt8]) { display.received(line) }

    /// Shows an event. Returns true if it was the last requested update, or if the output was closed. Updates after the
    /// last requested one are not shown.
    func show(_ event: WatchEvent) -> Bool {
        guard case .update = event else { return !display.show(event) }
        let number = count.withLock { count in
            count += 1
            return count
        }
        if let limit, number > limit { return true }
        return !display.show(event) || number == limit
    }

    /// Shows that the server has refused or closed the session, and returns what `show` returns. Throws if another attempt
    /// would have the same result, or if none may follow.
    func sessionEnded(_ refusal: UpstreamRefusal, _ content: JSONValue, once: Bool) throws(WatchFailure) -> Bool {
        let failure = WatchFailure.serverError(refusal.code, refusal.message)
        if once || refusal.isLasting { throw failure }
        if show(.other(name: "server-error", content: content.text)) { return true }
        return show(.status("DISCONNECTED", failure: "\(failure.sentence) Trying again."))
    }
}
