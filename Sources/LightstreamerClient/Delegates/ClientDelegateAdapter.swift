/// Calls a client delegate for the events of its client.
final class ClientDelegateAdapter: ClientObserver {
    let delegate: any ClientDelegate

    init(_ delegate: any ClientDelegate) { self.delegate = delegate }

    func client(_ client: LightstreamerClient, emitted event: ClientEvent) {
        switch event {
        case .status(let status): delegate.client(client, didChangeStatus: status)
        case .serverError(let code, let message):
            delegate.client(client, didReceiveServerError: code, withMessage: message)
        case .property(let name): delegate.client(client, didChangeProperty: name)
        case .subscription, .message, .legacy, .bytesReceived: break
        }
    }
}
