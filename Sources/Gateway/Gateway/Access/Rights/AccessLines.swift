extension WebTokenConfiguration {
    /// The settings that decide which tokens are valid, as a line of text that is the same in every process.
    package var line: String {
        let sources = [secret, publicKey, keySet, keySetURL, issuer, audience]
        return "\(sources.map { $0 ?? "" }.joined(separator: " ")) \(rights.line)"
    }
}

extension Rights {
    /// The rights as a line of text that is the same in every process, and different for different rights.
    package var line: String {
        let words = operations.map(\.rawValue).sorted().joined(separator: ",")
        let patterns = [upstreams, items].map { list in
            list.map { PercentDecoding.encode($0.description) }.joined(separator: ",")
        }
        let optional = [dataAdapters, feeds].map { list in
            list.map { $0.map { PercentDecoding.encode($0.description) }.joined(separator: ",") } ?? "-"
        }
        let limits = [streams, maxSubscriptions, maxItems].map { $0.map(String.init) ?? "-" }
        return ([words] + patterns + optional + limits + ["\(rate ?? 0)"]).joined(separator: " ")
    }
}
