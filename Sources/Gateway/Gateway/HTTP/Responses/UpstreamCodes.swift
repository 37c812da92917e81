internal import JSONText

/// The meaning of the error codes of a Lightstreamer server, from `codes.json`, which the documentation shows as well.
package enum UpstreamCodes {
    /// The request that the server refused.
    package enum Kind: String {
        case session
        case subscription
    }

    /// The meaning of a code, as a sentence; nil for an unknown code. Codes of Metadata Adapters are 0 or negative.
    package static func meaning(of code: Int, kind: Kind) -> String? { text(of: code, kind, in: meanings) }

    /// The remedy for a code, as a sentence; nil for an unknown code. The sentence names the settings of the upstream, or
    /// without an upstream the options of a client.
    package static func cure(of code: Int, kind: Kind, upstream: String? = nil) -> String? {
        let settings = upstream.map { "upstreams.\($0)." } ?? ""
        return text(of: code, kind, in: cures)?.replacing("upstreams.NAME.", with: settings)
    }

    private static func text(of code: Int, _ kind: Kind, in texts: [String: [String: String]]) -> String? {
        if let text = texts[kind.rawValue]?[code <= 0 ? "0" : "\(code)"] { return text }
        // The codes from 30 to 39 that have no meaning of their own share that of 30.
        return kind == .session && (30...39).contains(code) ? texts[kind.rawValue]?["30"] : nil
    }

    private static let meanings = texts("meaning")
    private static let cures = texts("cure")

    private static func texts(_ member: String) -> [String: [String: String]] {
        guard let file = EmbeddedFiles.shared["codes.json"],
            let root = try? JSONValue(parsing: file.bytes.array).object
        else { return [:] }
        var texts: [String: [String: String]] = [:]
        for kind in root {
            for entry in kind.value.array ?? [] {
                guard let code = entry["code"]?.string, let text = entry[member]?.string else { continue }
                texts[kind.name, default: [:]][code] = text
            }
        }
        return texts
    }
}
