internal import Changes
internal import FoundationEssentials
internal import JSONText
package import Primitives
package import SessionCore
internal import SessionPool

/// Sentences with the cause and the cure of a failed connection.
package enum TroubleText {
    static func sentence(_ trouble: ConnectionTrouble, of client: PooledClient) -> String {
        if trouble.kind == .serverError, let refusal = trouble.refusal {
            return sentence(refusal, upstream: client.upstream)
        }
        let settings = client.upstream.map { "upstreams.\($0)" }
        let address = trouble.address ?? "the server"
        return sentence(
            trouble.kind,
            httpStatus: trouble.code,
            address: address,
            isControlLink: trouble.isControlLink,
            settings: settings
        )
    }

    /// The sentences for an error of the server, with the keys of the upstream's settings; nil: it is not configured.
    package static func sentence(_ refusal: UpstreamRefusal, upstream: String? = nil) -> String {
        let meaning = UpstreamCodes.meaning(of: refusal.code, kind: .session)
        let cure = UpstreamCodes.cure(of: refusal.code, kind: .session, upstream: upstream)
        let message = refusal.message.isEmpty ? "" : ": \(refusal.message)"
        return (["The server responded with \(refusal.code)\(message)."] + [meaning, cure].compactMap(\.self))
            .joined(separator: " ")
    }

    /// The sentences for a kind of failure.
    ///
    /// - Parameters:
    ///   - httpStatus: The HTTP status of the response; nil: none.
    ///   - isControlLink: Whether the server has named the address in its control link.
    ///   - settings: The beginning of the keys of the upstream's settings; nil: it is not configured.
    ///   - addressName: The name of the address, without settings.
    package static func sentence(
        _ kind: FailureKind,
        httpStatus: Int? = nil,
        address: String,
        isControlLink: Bool = false,
        settings: String?,
        addressName: String = "serverAddress"
    ) -> String {
        func key(_ name: String, _ otherwise: String) -> String { settings.map { "\($0).\(name)" } ?? otherwise }
        let option = "serverInstanceAddressIgnored"
        let link = "that link, or set \(key("options.\(option)", option))"
        let server = isControlLink ? link : key("serverAddress", addressName)
        let address = isControlLink ? "\(address) (the control link of the server)" : address
        let status = httpStatus.map { ": HTTP status \($0)" } ?? ""
        // Many servers close a connection without TLS, or respond with 400, where they expect TLS.
        let hint = address.hasPrefix("http://") ? " If it speaks TLS on this port, use https in \(server)." : ""
        switch kind {
        case .refused:
            return "Nothing accepts connections at \(address). Start the Lightstreamer server, or correct \(server)."
        case .unreachable: return "There is no route to \(address). Check the network, or correct \(server)."
        case .nameNotFound:
            return "The host name of \(address) is unknown. Correct \(server), or check the name server."
        case .timeout:
            let proxy = settings.map { "set \($0).proxy.address" } ?? "connect through a proxy"
            let remedy = isControlLink ? "correct \(server)" : proxy
            return "\(address) does not respond. Check the firewalls on the way, or \(remedy)."
        case .certificateAuthority:
            return "The authority that issued the certificate of \(address) is not trusted. Name it in "
                + "\(key("tls.ca", "the system's certificate authorities"))."
        case .certificateExpired:
            return "The certificate of \(address), or of its authority, has expired. Renew it on the server."
        case .certificateNotYetValid:
            return "The certificate of \(address), or of its authority, is not valid yet. Check the clocks of both "
                + "machines."
        case .certificateName:
            return "The certificate of \(address) is for another name. Use the name of the certificate in \(server)."
        case .certificatePin:
            return "The certificate of \(address) is not a pinned one. Compare it with \(key("tls.pins", "the pins"))."
        case .plainText:
            return "\(address) does not speak TLS on this port. Use http, or the port for TLS, in \(server)."
        case .encrypted: return "\(address) speaks TLS on this port. Use https in \(server)."
        case .tls:
            return "The TLS handshake with \(address) failed. Check the versions that the server admits, and "
                + "\(key("tls.certificate", "the client certificate"))."
        case .proxy where httpStatus == 407:
            return "The HTTP proxy requires credentials for \(address), or refuses them\(status). Set "
                + "\(key("proxy.user", "its user")) and \(key("proxy.password", "its password"))."
        case .proxy:
            return
                "The HTTP proxy does not connect to \(address)\(status). Check \(key("proxy.address", "its address and user"))."
        case .unauthorized:
            return "\(address) requires HTTP credentials, or refuses them\(status). Set "
                + "\(key("http.user", "user")) and \(key("http.password", "password"))."
        case .notFound:
            return "\(address) has no Lightstreamer server at this path: HTTP status 404. Correct \(server)."
        case .httpStatus:
            return "\(address) responds with an HTTP error\(status). Check the server and the proxies in front of it."
                + (httpStatus == 400 ? hint : "")
        case .notLightstreamer:
            return "The response of \(address) is not that of a Lightstreamer server. Correct \(server), or check the "
                + "proxies in front of the server."
        case .closed: return "\(address) closed the connection. The server's log has the reason.\(hint)"
        case .progressMismatch:
            return
                "\(address) continued the session at another place than it was interrupted, so that a new session is "
                + "opened. If this is repeated, check that a load balancer sends all requests of a session to one server."
        case .serverError: return "The server at \(address) refused or closed the session."
        case .other: return "The connection to \(address) failed."
        }
    }
}

extension TroubleText {
    /// Why a client is not connected; nil while it is, and before its first failure.
    static func lastFailure(of client: PooledClient) -> LastFailure? {
        guard let trouble = client.trouble else { return nil }
        let now = client.now
        return LastFailure(
            reason: trouble.kind.rawValue,
            code: trouble.code,
            detail: sentence(trouble, of: client),
            since: time(trouble.since, now),
            attempts: trouble.attempts,
            nextAttempt: trouble.nextAttempt.flatMap { $0 > now ? time($0, now) : nil }
        )
    }

    /// A moment as a time of day, in UTC.
    private static func time(_ moment: Moment, _ now: Moment) -> String {
        let offset = moment < now ? -((now - moment) / .seconds(1)) : (moment - now) / .seconds(1)
        return Date().addingTimeInterval(offset).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}

extension JSONBytes {
    /// The member `lastFailure` of a client: why it is not connected, or null.
    mutating func lastFailure(of client: PooledClient?) { lastFailure(client.flatMap(TroubleText.lastFailure)) }
}
