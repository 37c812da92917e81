internal import EventHub
internal import MicroHTTPD

extension GatewayConfiguration {
    /// This configuration, but with what holds until the next start as an older one has it.
    func keeping(_ older: GatewayConfiguration) -> GatewayConfiguration {
        var kept = self
        kept.http = older.http
        kept.http.certificate = http.certificate
        kept.hub = older.hub
        kept.log = older.log
        return kept
    }

    /// What differs from an older configuration and takes effect with the next start only, as keys or parts of keys.
    func partsForNextStart(after older: GatewayConfiguration) -> [String] {
        var parts: [String] = []
        if http.host != older.http.host { parts.append("http.host") }
        if http.port != older.http.port { parts.append("http.port") }
        if (http.certificate == nil) != (older.http.certificate == nil) { parts.append("http.tls") }
        if settled(http) != settled(older.http) { parts.append("http") }
        if "\(hub)" != "\(older.hub)" { parts.append("streams") }
        if log != older.log { parts.append("log") }
        return parts
    }

    /// The figures of the front end as text, without what is compared by itself and without secrets.
    private func settled(_ http: DaemonConfiguration) -> String {
        var http = http
        http.certificate = nil
        (http.host, http.port) = ("", 0)
        return "\(http)"
    }
}
