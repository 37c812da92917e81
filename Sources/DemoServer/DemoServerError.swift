/// Why a demo server does not run.
package enum DemoServerError: Error, Sendable, Hashable {
    /// `run()` was called a second time; a server runs once.
    case alreadyRun
    /// The server ended before it listened.
    case ended
    /// The address cannot be listened on.
    case cannotListen(reason: String)
}
