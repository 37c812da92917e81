internal import JSONText
internal import LightstreamerClient
internal import SessionPool

/// The JSON form of a client.
extension Services {
    /// Writes a client with those of its subscriptions that the caller sees. The session id is null unless the caller
    /// controls the client.
    func write(_ client: PooledClient, _ permissions: Permissions, to json: inout JSONBytes) {
        let subscriptions = pool.subscriptions(of: client).filter(permissions.sees).map(\.id.rawValue)
        let isControlled = permissions.controls(client)
        let situation = client.situation
        let counters = client.counters
        json.beginObject()
        json.member("id", client.id.rawValue)
        json.member("upstream", client.upstream)
        json.member("dedicated", client.isDedicated)
        json.member("status", situation.status.rawValue)
        DetailsView.writeSession(client.core.connectionDetails, showsID: isControlled, to: &json)
        json.member("transport", situation.status.transport)
        json.member("subscriptions", Optional(subscriptions))
        json.member("lastServerError", situation.lastServerError)
        json.lastFailure(of: client)
        json.object("counters") { json in
            json.member("sessions", counters.sessions)
            json.member("reconnects", counters.reconnects)
            json.member("updates", counters.updates)
            json.member("serverErrors", counters.serverErrors)
            json.member("messages", counters.messages)
        }
        json.endObject()
    }
}

extension ClientStatus {
    /// The transport that the status implies; nil while there is none, so that no updates can arrive.
    var transport: String? {
        switch self {
        case .connectedWSStreaming: "WS-STREAMING"
        case .connectedHTTPStreaming: "HTTP-STREAMING"
        case .connectedWSPolling: "WS-POLLING"
        case .connectedHTTPPolling: "HTTP-POLLING"
        case .connecting, .connectedStreamSensing, .stalled, .disconnectedWillRetry, .disconnectedTryingRecovery,
            .disconnected:
            nil
        }
    }
}

/// The current value of a connection property, in the form of the REST views.
enum ClientPropertyValue {
    /// The value; nil for the password, and for a name that is no property.
    static func json(_ property: String, of client: PooledClient) -> JSONValue? {
        var (options, details) = (JSONBytes(), JSONBytes())
        OptionsView(client).write(to: &options)
        DetailsView.write(client.core.connectionDetails, to: &details)
        return [options, details].lazy.compactMap { try? JSONValue(parsing: $0.bytes)[property] }.first
    }
}
