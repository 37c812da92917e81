internal import FoundationEssentials
internal import MicroHTTPD

extension GatewayConfiguration {
    /// Warnings about values that are accepted but work only in part, or not now.
    ///
    /// - Parameter now: Seconds since 1970.
    package func warnings(now: Double = Date().timeIntervalSince1970) -> [String] {
        let certificate = http.certificate?.warning(now: now)
        let settings = [bodyWarning, tokenWarning, keySetWarning, clusterWarning]
        return ([memoryWarning()] + settings + [certificate]).compactMap(\.self) + rightsWarnings
    }

    /// A warning of bodies that `http.maxBody` permits and the budget of all bodies never does; nil if there are none.
    private var bodyWarning: String? {
        guard http.bodyLimit > http.bodyBudget else { return nil }
        return "http.maxBody is more than http.maxBodies: bodies beyond \(http.bodyBudget) bytes are refused with 503"
    }

    /// A warning of settings for a cluster that has no engine; nil if there are none.
    private var clusterWarning: String? {
        guard cluster.engine == .none, cluster != ClusterConfiguration() else { return nil }
        return "cluster.engine is none: the gateway runs alone, and the other settings of cluster have no effect"
    }

    /// A warning of settings for tokens that no key can verify; nil if there are none.
    private var tokenWarning: String? {
        guard !access.webTokens.hasKeys, access.webTokens != WebTokenConfiguration(), access.configuredModes != [.none]
        else { return nil }
        let effect = access.isOpen ? "callers need no credentials" : "tokens are refused"
        return "auth.jwt has no secret, publicKey, jwks or jwksURL: \(effect)"
    }

    /// Warnings of rights to upstreams and feeds that are not configured, as by a misspelled name.
    private var rightsWarnings: [String] {
        let holders = access.keys.map { ("auth.keys.\($0.name)", $0.rights) } + [("auth.jwt", access.webTokens.rights)]
        return holders.flatMap { place, rights in
            let names = [
                ("upstreams", rights.upstreams, pool.upstreams.map(\.name)),
                ("feeds", rights.feeds ?? [], feeds.map(\.name)),
            ]
            return names.flatMap { member, patterns, names in
                patterns.filter { $0.description != "*" && !names.contains(where: $0.matches) }.map {
                    "\(place).\(member): none of the configured \(member) has a name such as \"\($0)\""
                }
            }
        }
    }

    /// A warning of the keys of `auth.jwt.jwks` that are skipped; nil if there are none.
    private var keySetWarning: String? {
        guard let text = access.webTokens.keySet, let skipped = try? KeyMaterial.keySet(text).skipped, !skipped.isEmpty
        else { return nil }
        let positions = KeyMaterial.text(of: skipped)
        return "auth.jwt.jwks: \(positions) cannot be used: RS256 requires RSA of 2048 bits or more, ES256 EC P-256"
    }
}

extension DaemonConfiguration.Certificate {
    /// A warning that clients refuse a certificate of the chain at a time; nil if all are valid then.
    fileprivate func warning(now: Double) -> String? {
        guard let (start, end) = validity else { return nil }
        func sentence(_ event: String, _ time: Int) -> String {
            let date = Date(timeIntervalSince1970: Double(time)).formatted(.iso8601)
            return "http.tls.certificate: the certificate, or one of its chain, \(event) \(date); clients refuse it"
        }
        if now > Double(end) { return sentence("has expired at", end) }
        return now < Double(start) ? sentence("is not valid before", start) : nil
    }
}
