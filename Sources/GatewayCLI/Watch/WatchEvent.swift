internal import Synchronization

/// An event that `watch` shows.
enum WatchEvent: Sendable, Equatable {
    /// The status of the connection.
    case status(String)
    /// An update.
    case update(WatchUpdate)
    /// Another event: its name and its content as text.
    case other(name: String, content: String)
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
    /// The changed fields.
    var fields: [Field] = []
}

/// The reason why `watch` ends with exit status 1.
struct WatchFailure: Error, Equatable {
    /// The reason, as a sentence.
    let sentence: String

    init(_ sentence: String) { self.sentence = sentence }

    /// The refusal of a session by a Lightstreamer server.
    static func serverError(_ code: Int, _ message: String) -> WatchFailure {
        refusal("The server refused or closed the session", code, message, ServerErrorCode.meaning(ofSession: code))
    }

    /// The refusal of a subscription by a Lightstreamer server.
    static func subscriptionError(_ code: Int, _ message: String) -> WatchFailure {
        refusal("The server refused the subscription", code, message, ServerErrorCode.meaning(ofSubscription: code))
    }

    private static func refusal(_ event: String, _ code: Int, _ message: String, _ meaning: String?) -> WatchFailure {
        let reason = meaning ?? (message.isEmpty ? "no reason given" : message)
        let text = meaning == nil || message.isEmpty ? "" : ", \"\(message.printable)\""
        return WatchFailure("\(event): \(reason.printable) (code \(code)\(text)).")
    }
}

/// The meaning of the error codes of Lightstreamer servers.
enum ServerErrorCode {
    /// The meaning of a code with which a session was refused or closed; nil for an unknown code.
    static func meaning(ofSession code: Int) -> String? {
        switch code {
        case ...0: "the Metadata Adapter refused the user; the code is defined by the adapter"
        case 1: "the user or password is wrong"
        case 2: "the Adapter Set does not exist"
        case 7, 8: "the licensed or configured maximum number of sessions is reached"
        case 9: "the configured maximum server load is reached"
        case 10: "new sessions are temporarily blocked"
        case 11: "the licence does not include streaming"
        case 21: "the request reached the wrong server instance"
        case 30...41: "the session was closed by the server or an administrator"
        case 60: "the licence does not permit this client version"
        case 61: "a message of the server could not be parsed"
        case 62: "the server certificate does not match the configured pins"
        case 65, 67: "the server refused a request as malformed or unexpected"
        case 66: "the Metadata Adapter failed unexpectedly"
        case 68: "internal server error"
        case 70: "the server port is not configured for this use"
        case 71: "the licence does not permit this kind of client"
        default: nil
        }
    }

    /// The meaning of a code with which a subscription was refused; nil for an unknown code.
    static func meaning(ofSubscription code: Int) -> String? {
        switch code {
        case ...0: "the Metadata Adapter refused the subscription; the code is defined by the adapter"
        case 14: "a key is not a valid item name for the second level"
        case 15: "COMMAND mode needs the field key"
        case 16: "COMMAND mode needs the field command"
        case 17: "the Data Adapter does not exist, or there is no default Data Adapter"
        case 21: "an item does not exist, or the item group is wrong"
        case 22: "the items do not fit the fields"
        case 23: "a field does not exist, or the field schema is wrong"
        case 24: "an item does not permit this mode"
        case 25: "the selector does not exist"
        case 26...28: "unfiltered dispatching is not permitted"
        case 29: "the licence does not include RAW mode"
        case 30: "the licence does not include subscriptions"
        case 61: "the number of items or fields differs from the configured list"
        case 66: "the Metadata Adapter failed unexpectedly"
        case 68: "internal server error"
        default: nil
        }
    }
}

extension String {
    /// The text without control characters, which could control a terminal.
    var printable: String {
        String(
            String.UnicodeScalarView(unicodeScalars.map { $0.properties.generalCategory == .control ? "\u{FFFD}" : $0 })
        )
    }
}

/// Passes events to a display, until a number of updates has been shown.
final class WatchOutput: Sendable {
    private let display: any WatchDisplay
    private let limit: Int?
    private let count = Mutex(0)

    init(display: any WatchDisplay, limit: Int?) {
        self.display = display
        self.limit = limit
    }

    /// Shows an event; true if it was the last one that is wanted, or its reader has gone. Events behind the last one are
    /// not shown.
    func show(_ event: WatchEvent) -> Bool {
        guard case .update = event else { return !display.show(event) }
        let number = count.withLock { count in
            count += 1
            return count
        }
        if let limit, number > limit { return true }
        return !display.show(event) || number == limit
    }
}
