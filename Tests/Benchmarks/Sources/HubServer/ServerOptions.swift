internal import Glibc

/// The options of the command line.
struct ServerOptions {
    /// Events a second, all topics together; 0: none.
    var rate = 20
    /// Subscriptions.
    var topics = 1
    /// Items of each subscription.
    var items = 1
    /// Fields of each item, the time of the publication among them.
    var fields = 2
    /// Events published together.
    var burst = 1
    /// Whether each item gets a value before connections are served.
    var isFilled = false
    /// Threads that serve connections.
    var threads = 1
    /// Further subscriptions, to which nothing is published.
    var quiet = 0
    /// For TLS: the paths of a certificate and of its key, as PEM.
    var certificate: String?
    var key: String?

    /// Reads pairs of names and values.
    init(_ arguments: some Sequence<String>) {
        var name: String?
        for argument in arguments {
            guard let present = name else {
                name = argument
                continue
            }
            set(present, argument)
            name = nil
        }
    }

    private mutating func set(_ name: String, _ text: String) {
        switch (name, Int(text)) {
        case ("--rate", let value?): rate = max(0, value)
        case ("--topics", let value?): topics = max(1, value)
        case ("--items", let value?): items = max(1, value)
        case ("--fields", let value?): fields = max(2, value)
        case ("--burst", let value?): burst = max(1, value)
        case ("--filled", let value?): isFilled = value > 0
        case ("--threads", let value?): threads = max(1, value)
        case ("--quiet", let value?): quiet = max(0, value)
        case ("--certificate", _): certificate = text
        case ("--key", _): key = text
        default:
            print("unknown option \(name)")
            exit(2)
        }
    }
}
