public import SessionCore

/// Receives the events of a client. Every method has an empty default.
///
/// All methods are called on the client's own task, one at a time, in the order in which the events happened, across
/// the client, its subscriptions and its messages. They may call any method of the library. The client holds its
/// delegates strongly until they are removed or the client is released.
public protocol ClientDelegate: AnyObject, Sendable {
    /// The delegate's first event.
    func clientDidAddDelegate(_ client: LightstreamerClient)
    /// The delegate's last event.
    func clientDidRemoveDelegate(_ client: LightstreamerClient)
    /// The server refused a session or closed it; the status is `DISCONNECTED` already, and no retry follows.
    func client(_ client: LightstreamerClient, didReceiveServerError code: Int, withMessage message: String)
    /// The status changed; consecutive statuses always differ.
    func client(_ client: LightstreamerClient, didChangeStatus status: ClientStatus)
    /// A property of the connection details or options changed, set by the user or by the server. The name is that of
    /// the configured edition; see `ClientConfiguration.Edition.propertyName(_:)`.
    func client(_ client: LightstreamerClient, didChangeProperty property: String)
}

extension ClientDelegate {
    /// Does nothing.
    public func clientDidAddDelegate(_ client: LightstreamerClient) {}
    /// Does nothing.
    public func clientDidRemoveDelegate(_ client: LightstreamerClient) {}
    /// Does nothing.
    public func client(_ client: LightstreamerClient, didReceiveServerError code: Int, withMessage message: String) {}
    /// Does nothing.
    public func client(_ client: LightstreamerClient, didChangeStatus status: ClientStatus) {}
    /// Does nothing.
    public func client(_ client: LightstreamerClient, didChangeProperty property: String) {}
}

/// A client delegate that also answers authentication challenges.
///
/// Only the first conforming delegate of a client is called; without one, the configuration answers.
public protocol AuthenticationDelegate: ClientDelegate {
    /// A server or proxy requests credentials, or presents its identity. The connection waits until the challenge is
    /// answered, from any thread. Called on a network thread: must return quickly and must not block.
    func client(_ client: LightstreamerClient, willSendRequestFor challenge: AuthenticationChallenge)
}

/// Calls a client delegate for the events of its client.
final class ClientDelegateAdapter: ClientObserver {
    let delegate: any ClientDelegate

    init(_ delegate: any ClientDelegate) { self.delegate = delegate }

    func client(_ client: LightstreamerClient, emitted event: ClientEvent) {
        switch event {
        case .status(let status): delegate.client(client, didChangeStatus: status)
        case .serverError(let code, let message):
            delegate.client(client, didReceiveServerError: code, withMessage: message)
        case .property(let name): delegate.client(client, didChangeProperty: client.edition.propertyName(name))
        case .subscription, .message, .legacy, .bytesReceived: break
        }
    }
}

extension LightstreamerClient {
    /// The delegates, in the order in which they were added. They are held strongly.
    public var delegates: [any ClientDelegate] { core.state.withLock { $0.delegates } }

    /// Adds a delegate; a duplicate is ignored. Its first event is `clientDidAddDelegate`, delivered by this call after the
    /// last event of a client that was shut down; earlier events are not delivered to it.
    public func addDelegate(_ delegate: any ClientDelegate) {
        guard core.state.withLock({ $0.delegates.appendObject(delegate) }) else { return }
        core.performAlways { [self] delivery in
            delivery?.add(ClientDelegateAdapter(delegate))
            delegate.clientDidAddDelegate(self)
        }
    }

    /// Removes a delegate; an unknown one is ignored. Earlier events are still delivered to it; its last event is
    /// `clientDidRemoveDelegate`.
    public func removeDelegate(_ delegate: any ClientDelegate) {
        guard core.state.withLock({ $0.delegates.removeObject(delegate) }) else { return }
        core.performAlways { [self] delivery in
            delegate.clientDidRemoveDelegate(self)
            delivery?.remove { ($0 as? ClientDelegateAdapter)?.delegate === delegate }
        }
    }

    /// Adds an observer, which receives every event from now on. It is held strongly.
    package func addObserver(_ observer: any ClientObserver & Sendable) { core.perform { $0.add(observer) } }
}

extension Array {
    /// Appends an object; false if the array has it already.
    mutating func appendObject(_ object: Element) -> Bool {
        if contains(where: { $0 as AnyObject === object as AnyObject }) { return false }
        append(object)
        return true
    }

    /// Removes an object; false if the array does not have it.
    mutating func removeObject(_ object: Element) -> Bool {
        guard let index = firstIndex(where: { $0 as AnyObject === object as AnyObject }) else { return false }
        remove(at: index)
        return true
    }
}
