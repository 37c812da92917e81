internal import Foundation
internal import JSONText
package import Primitives
package import SessionCore
internal import SessionPool

/// Sentences with the cause and the cure of a failed connection.
package enum TroubleText {
    /// The sentences for the failure of a client.
    static func sentence(_ trouble: ConnectionTrouble, of client: PooledClient) -> String {
        let address = client.core.connectionDetails.serverAddress ?? "the server"
        if let refusal = trouble.refusal { return sentence(refusal, upstream: client.upstream) }
        if trouble.kind == .httpStatus, let code = trouble.code {
            return "\(address) responds with HTTP status \(code). Check the server and the proxies in front of it."
        }
        return sentence(trouble.kind, address: address, settings: client.upstream.map { "upstreams.\($0)" })
    }

    /// The sentences for an error of the server, with the keys of the upstream's settings; nil: it is not configured.
    package static func sentence(_ refusal: UpstreamRefusal, upstream: String? = nil) -> String {
        let meaning = UpstreamCodes.meaning(of: refusal.code, kind: .session)
        let cure = UpstreamCodes.cure(of: refusal.code, kind: .session)
            .map { cure in upstream.map { cure.replacing("upstreams.NAME.", with: "upstreams.\($0).") } ?? cure }
        let message = refusal.message.isEmpty ? "" : ": \(refusal.message)"
        return (["The server responded with \(refusal.code)\(message)."] + [meaning, cure].compactMap(\.self))
            .joined(separator: " ")
    }

    /// The sentences for a kind of failure.
    ///
    /// - Parameter settings: The beginning of the keys of the upstream's settings; nil: it is not configured.
    package static func sentence(_ kind: FailureKind, address: String, settings: String?) -> String {
        func key(_ name: String, _ otherwise: String) -> String { settings.map { "\($0).\(name)" } ?? otherwise }
        let server = key("serverAddress", "serverAddress")
        switch kind {
        case .refused:
            return "Nothing accepts connections at \(address). Start the Lightstreamer server, or correct \(server)."
        case .unreachable: return "There is no route to \(address). Check the network, or correct \(server)."
        case .nameNotFound:
            return "The host name of \(address) is unknown. Correct \(server), or check the name server."
        case .timeout:
            let proxy = key("proxy.address", "a proxy")
            return "\(address) does not respond. Check the firewalls on the way, or connect through \(proxy)."
        case .certificate:
            return "The certificate of \(address) is expired, or its authority is not trusted. Renew it, or name the "
                + "authority in \(key("tls.ca", "the client's settings"))."
        case .certificateName:
            return "The certificate of \(address) is for another name. Use the name of the certificate in \(server)."
        case .certificatePin:
            return "The certificate of \(address) is not a pinned one. Compare it with \(key("tls.pins", "the pins"))."
        case .plainText:
            return "\(address) does not speak TLS on this port. Use http, or the port for TLS, in \(server)."
        case .tls:
            return "The TLS handshake with \(address) failed. Check the versions that the server admits, and "
                + "\(key("tls.certificate", "the client certificate"))."
        case .proxy:
            return
                "The HTTP proxy does not connect to \(address). Check \(key("proxy.address", "its address and user"))."
        case .unauthorized:
            return "\(address) requires HTTP credentials, or refuses them. Set "
                + "\(key("http.user", "user")) and \(key("http.password", "password"))."
        case .notFound:
            return "\(address) has no Lightstreamer server at this path: HTTP status 404. Correct \(server)."
        case .httpStatus:
            return "\(address) responds with an HTTP error. Check the server and the proxies in front of it."
        case .notLightstreamer:
            return "The response of \(address) is not that of a Lightstreamer server. Correct \(server)."
        case .closed: return "\(address) closed the connection. The server's log has the reason."
        case .serverError: return "The server at \(address) refused or closed the session."
        case .other: return "The connection to \(address) failed."
        }
    }
}

extension JSONBytes {
    /// The member `lastFailure` of a client: why it is not connected, or null.
    mutating func lastFailure(of client: PooledClient?) {
        key("lastFailure")
        guard let client, let trouble = client.trouble else { return null() }
        let now = client.now
        beginObject()
        member("reason", trouble.kind.rawValue)
        member("code", trouble.code)
        member("detail", TroubleText.sentence(trouble, of: client))
        member("since", Self.time(trouble.since, now))
        member("attempts", trouble.attempts)
        member("nextAttempt", trouble.nextAttempt.map { Self.time($0, now) })
        endObject()
    }

    /// A moment as a time of day, in UTC.
    private static func time(_ moment: Moment, _ now: Moment) -> String {
        let offset = moment < now ? -((now - moment) / .seconds(1)) : (moment - now) / .seconds(1)
        return Date().addingTimeInterval(offset).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
