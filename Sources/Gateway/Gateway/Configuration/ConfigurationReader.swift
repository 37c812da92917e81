internal import FoundationEssentials

/// Reads a configuration: flags take precedence over the environment, the environment over the file, and the file over
/// the defaults of the command.
///
/// Environment variables are the keys in upper case, words separated by underscores, with the prefix `GATEWAY_`:
/// `http.maxBody` is `GATEWAY_HTTP_MAX_BODY`, `upstreams.demo.serverAddress` is
/// `GATEWAY_UPSTREAMS_DEMO_SERVER_ADDRESS`; the names of upstreams, feeds and API keys that neither the file nor flags
/// give are listed in `GATEWAY_UPSTREAM_NAMES`, `GATEWAY_FEED_NAMES` and `GATEWAY_AUTH_KEY_NAMES`. A secret may be in a
/// file of its own, which the key with `File` or `_FILE` at its end names; the order of the sources is the same for both
/// keys, and a source has one of them.
package struct ConfigurationReader {
    private let flags: [(key: String, value: String)]
    private let environment: [String: String]
    private let file: ConfigurationFile?
    private let defaults: [(key: String, value: String)]
    private let readFile: (String) -> String?
    private var mistakes: [ConfigurationMistake]
    /// The keys that unknown keys were probably meant to be. They are not missing where no source has them.
    private var intended: Set<String> = []

    /// A reader of these sources. `defaults` apply to keys that no other source has; `readFile` returns the text of a
    /// file, nil if it cannot be read.
    package init(
        flags: [(key: String, value: String)] = [],
        environment: [String: String] = [:],
        file: ConfigurationFile? = nil,
        defaults: [(key: String, value: String)] = [],
        readFile: @escaping (String) -> String? = { try? String(contentsOfFile: $0, encoding: .utf8) }
    ) {
        self.flags = flags
        self.environment = environment
        self.file = file
        self.defaults = defaults
        self.readFile = readFile
        mistakes = file?.mistakes ?? []
    }

    /// Reads everything; throws all mistakes at once.
    package mutating func read() throws(ConfigurationError) -> GatewayConfiguration {
        let sources = sources
        var configuration = GatewayConfiguration()
        var chosen = chosenNames
        for group in NamedGroup.all { chosen[group.key] = admitted(chosen[group.key] ?? [], under: group.key) }
        refuseUnknownKeys()
        refuseLists()
        refuseSharedVariables(chosen)
        for setting in Settings.all {
            for name in names(for: setting, of: chosen) {
                let key = Self.key(of: setting, named: name)
                guard let value = value(of: setting, key: key, from: sources) else {
                    refuseVacant(setting, key)
                    continue
                }
                do throws(SettingError) {
                    try setting.apply(&configuration, name, value)
                } catch {
                    note(error.rules.map { (key, $0) })
                }
            }
        }
        configuration.orderFeeds(by: (file?.entries ?? []).map(\.key) + defaults.map(\.key), chosen["feeds"] ?? [])
        for group in NamedGroup.all {
            let configured = Set(group.names(configuration))
            for name in chosen[group.key] ?? [] where !configured.contains(name) {
                let key = "\(group.key).\(name).\(group.needed)"
                if !hasMistake(within: key + ".") { note(key, group.rule) }
            }
        }
        configuration.access.publicFeeds = configuration.feeds.filter(\.isPublic)
        check(&configuration, chosen["upstreams"] ?? [])
        guard mistakes.isEmpty else { throw ConfigurationError(mistakes: mistakes) }
        return configuration
    }

    /// A group of settings of things that the operator names.
    struct NamedGroup: Sendable {
        let key: String
        let variable: String
        /// The key that each name needs, and the rule that a name without it breaks.
        let needed: String, rule: String
        let names: @Sendable (GatewayConfiguration) -> [String]

        static let all = [
            Self(key: "upstreams", variable: "GATEWAY_UPSTREAM_NAMES", needed: "serverAddress", rule: "is required") {
                $0.pool.upstreams.map(\.name)
            },
            Self(key: "feeds", variable: "GATEWAY_FEED_NAMES", needed: "fields", rule: "must have at least one field") {
                $0.feeds.map(\.name)
            },
            Self(key: "auth.keys", variable: "GATEWAY_AUTH_KEY_NAMES", needed: "hash", rule: "is required") {
                $0.access.keys.map(\.name)
            },
        ]
    }

    /// The names that the operator chose, by the keys of their groups.
    private var chosenNames: [String: [String]] {
        let groups = NamedGroup.all.map { ($0.key, names(under: $0.key.split(separator: "."), variable: $0.variable)) }
        return Dictionary(uniqueKeysWithValues: groups)
    }

    /// The names that replace the asterisks of a setting, those of fields with the feed before them; one empty name for a
    /// setting without an asterisk.
    private func names(for setting: Setting, of chosen: [String: [String]]) -> [String] {
        guard let group = NamedGroup.all.first(where: { setting.key.hasPrefix($0.key + ".*.") }) else { return [""] }
        let names = chosen[group.key] ?? []
        guard setting.key.hasSuffix(".fields.*") else { return names }
        let feeds = Set(names)
        return self.names(under: ["feeds", "*", "fields"], variable: "", depth: 1).filter { name in
            feeds.contains(String(name.prefix { $0 != "." }))
        }
    }

    /// The key of a setting with a name, or with several names separated by dots, in the places of its asterisks.
    private static func key(of setting: Setting, named name: String) -> String {
        guard setting.key.hasSuffix(".fields.*") else { return setting.key.replacing("*", with: name) }
        let names = name.split(separator: ".", maxSplits: 1)
        return "feeds.\(names[0]).fields.\(names.last ?? "")"
    }

    /// The variables with the prefix `GATEWAY_` that have no effect.
    package var unknownVariables: [UnknownVariable] {
        var known = Set(NamedGroup.all.map(\.variable) + [Self.tokenVariable])
        let chosen = chosenNames
        for setting in Settings.all {
            for name in names(for: setting, of: chosen) {
                let variable = Self.variable(for: Self.key(of: setting, named: name))
                known.insert(variable)
                if setting.isSecret { known.insert(variable + "_FILE") }
            }
        }
        let unknown = environment.keys.filter { $0.hasPrefix(Self.prefix) && !known.contains($0) }
        return unknown.sorted().map {
            let name = $0.dropFirst(Self.prefix.count)
            let suggestion = Self.suggestion(for: $0, among: known.sorted(), withEnding: "_\(name)")
            return UnknownVariable(name: $0, suggestion: suggestion)
        }
    }

    /// The known name that was probably intended: a similar name or, if the group was omitted, the only name with this
    /// ending.
    private static func suggestion(for name: String, among known: [String], withEnding ending: String) -> String? {
        if let similar = SimilarNames.suggestion(for: name, among: known) { return similar }
        let ending = known.filter { $0.hasSuffix(ending) }
        return ending.count == 1 ? ending[0] : nil
    }

    /// The beginning of the names of variables.
    private static let prefix = "GATEWAY_"
    /// The variable from which `watch` takes its credential.
    private static let tokenVariable = "GATEWAY_TOKEN"

    private typealias Source = (_ key: String) -> String?

    /// The sources, the first one with the highest precedence. Names of variables are ASCII.
    private var sources: [Source] {
        let environment = environment
        let variables: Source = { key in
            key.utf8.allSatisfy { $0 < 0x80 } ? environment[Self.variable(for: key)] : nil
        }
        let entries = (file?.entries ?? []).map { (key: $0.key, value: $0.value ?? "") }
        return [Self.source(flags), variables, Self.source(entries), Self.source(defaults)]
    }

    /// A repeated flag extends a list.
    private static func source(_ pairs: [(key: String, value: String)]) -> Source {
        let values = Dictionary(pairs.map { ($0.key, $0.value) }) { "\($0),\($1)" }
        return { values[$0] }
    }

    /// The value in the first source that has the key, or the key of a file for a secret.
    private mutating func value(of setting: Setting, key: String, from sources: [Source]) -> String? {
        for source in sources {
            let path = setting.isSecret ? source(key + "File") : nil
            if let value = source(key) {
                if path != nil { note(key + "File", "is given beside \(key): remove one") }
                return value
            }
            guard let path else { continue }
            guard let text = readFile(path) else {
                note(key + "File", Self.rule(ofUnreadable: path))
                return nil
            }
            // A line end of two bytes is one character.
            return text.last == "\n" || text.last == "\r\n" ? String(text.dropLast()) : text
        }
        return nil
    }

    /// The rule for a key with the path of an unreadable file. The path is not shown: by mistake, the path may be the secret
    /// itself.
    private static func rule(ofUnreadable path: String) -> String {
        "names a path that \(UnreadableFile(path: path).reason)"
    }

    /// The names that the operator chose: from the keys with this beginning, and from a variable that lists them. Names in the
    /// places of asterisks come first, separated by dots.
    ///
    /// - Parameter depth: The least number of parts of a key after `start`: 2 for groups, 1 for values.
    private func names(under start: [Substring], variable: String, depth: Int = 2) -> [String] {
        func name(_ key: String, depth: Int) -> String? {
            let parts = key.split(separator: ".")
            guard parts.count >= start.count + depth, Self.isMatch(Array(parts.prefix(start.count)), start) else {
                return nil
            }
            return zip(parts, start + ["*"]).filter { $1 == "*" }.map(\.0).joined(separator: ".")
        }
        let keys = flags.map(\.key) + (file?.entries ?? []).map(\.key) + defaults.map(\.key)
        var names = keys.compactMap { name($0, depth: depth) }
        names += (file?.vacant ?? []).compactMap { name($0.key, depth: 1) }
        names += SettingValue.list(environment[variable] ?? "")
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }
    }

    /// The names that meet the rule. Other names are mistakes.
    private mutating func admitted(_ names: [String], under group: String) -> [String] {
        names.filter { name in
            if SettingValue.isName(name) { return true }
            note("\(group).\(name)", "must have a name of \(SettingValue.nameRule)")
            return false
        }
    }

    private mutating func refuseUnknownKeys() {
        let patterns = Settings.all.flatMap { setting in
            (setting.isSecret ? [setting.key, setting.key + "File"] : [setting.key]).map { $0.split(separator: ".") }
        }
        func isKnown(_ key: String) -> Bool {
            let parts = key.split(separator: ".", omittingEmptySubsequences: false)
            return patterns.contains { Self.isMatch(parts, $0) }
        }
        func refuse(_ key: String) {
            let parts = key.split(separator: ".")
            // A name that the operator chose stays as it is.
            let known = patterns.map { pattern in
                pattern.enumerated().map { $1 == "*" && $0 < parts.count ? parts[$0] : $1 }.joined(separator: ".")
            }
            if let rule = Settings.rule(ofGroup: key) { return note(key, rule) }
            let plain = known.filter { !$0.contains("*") }
            let suggestion = Self.suggestion(for: key, among: plain, withEnding: ".\(key)")
            note(key, "is not a key of the configuration" + (suggestion.map { "; did you mean \($0)?" } ?? ""))
            if let suggestion { intended.insert(suggestion) }
        }
        for key in flags.map(\.key) + (file?.entries ?? []).map(\.key) where !isKnown(key) { refuse(key) }
        for key in (file?.vacant ?? []).map(\.key) where !isKnown(key) {
            let parts = key.split(separator: ".", omittingEmptySubsequences: false)
            // A group may be empty.
            let isGroup = patterns.contains { Self.isMatch(parts, Array($0.prefix(parts.count))) }
            if !isGroup { refuse(key) }
        }
    }

    /// Refuses a key of the file that has no value and gets none from another source, if access, encryption or a field
    /// would be missing without a word. Other keys without a value have their defaults.
    private mutating func refuseVacant(_ setting: Setting, _ key: String) {
        guard case .text = setting.type, let vacant = file?.vacant else { return }
        let isNeeded = setting.isSecret || setting.key == "auth.jwt.jwksURL" || setting.key.hasSuffix(".fields.*")
        let names = setting.isSecret ? [key, key + "File"] : [key]
        guard isNeeded else { return }
        for name in names where vacant.contains(where: { $0.key == name }) { note(name, "has no value") }
    }

    /// Refuses repeated flags of settings that are not lists, and sequences of the file for settings of one value.
    private mutating func refuseLists() {
        var seen: Set<String> = []
        for key in flags.map(\.key) where !seen.insert(key).inserted {
            if !Self.isList(key, orLines: false) { note(key, "is given more than once") }
        }
        for entry in file?.entries ?? [] where entry.isSequence && !Self.isList(entry.key, orLines: true) {
            note(entry.key, "must be one value, not a list")
        }
    }

    private static func isList(_ key: String, orLines: Bool) -> Bool {
        let parts = key.split(separator: ".")
        return Settings.all.contains { setting in
            switch setting.type {
            case .list: isMatch(parts, setting.key.split(separator: "."))
            case .lines: orLines && isMatch(parts, setting.key.split(separator: "."))
            default: false
            }
        }
    }

    /// Refuses a variable of several keys, with names that differ only in letter case or separators: the variable may be
    /// the secret of one key.
    private mutating func refuseSharedVariables(_ chosen: [String: [String]]) {
        var owners: [String: String] = [:]
        for setting in Settings.all where setting.key.contains("*") {
            for name in names(for: setting, of: chosen) {
                let key = Self.key(of: setting, named: name)
                let variables = (setting.isSecret ? [key, key + "File"] : [key]).map(Self.variable(for:))
                for variable in variables where environment[variable] != nil {
                    if let other = owners[variable] { note(key, "has the variable of \(other): rename one of them") }
                    owners[variable] = key
                }
            }
        }
    }

    /// Whether the parts of a key are those of a pattern, with any names in the places of its asterisks.
    private static func isMatch(_ parts: [Substring], _ pattern: [Substring]) -> Bool {
        pattern.count == parts.count && zip(pattern, parts).allSatisfy { $0 == "*" || $0 == $1 }
    }

    /// Checks rules that involve several values. `upstreams`: the names of all upstreams, also of those without a value.
    private mutating func check(_ configuration: inout GatewayConfiguration, _ upstreams: [String]) {
        for upstream in configuration.pool.upstreams {
            if upstream.serverAddress.isEmpty { note("upstreams.\(upstream.name).serverAddress", "is required") }
            note(UpstreamCheck.mistakes(in: upstream))
        }
        for upstream in configuration.pool.upstreams.filter(\.isDefault).dropFirst() {
            note("upstreams.\(upstream.name).default", "is true, as for another upstream: only one can be the default")
        }
        // A feed lacks the fields that have a mistake.
        note(configuration.feedMistakes(of: upstreams).filter { !hasMistake(within: $0.key + ".") })
        note(AccessCheck.mistakes(in: configuration.access))
        note(configuration.cluster.mistakes)
        for file in configuration.cluster.files where readFile(file.path) == nil {
            note(file.key, Self.rule(ofUnreadable: file.path))
        }
        // A certificate or key whose file has a mistake is missing beside the other one.
        if !hasMistake(within: "http.tls."), let rule = CertificateCheck.violation(of: configuration.http.certificate) {
            note("http.tls.certificate", rule)
        }
        // Keys and tokens that have a mistake are missing.
        if !hasMistake(within: "auth."), let rule = configuration.access.violation(listeningOn: configuration.http.host)
        {
            note("http.host", rule)
        }
    }

    private func hasMistake(within group: String) -> Bool {
        mistakes.contains { $0.key?.hasPrefix(group) ?? false } || intended.contains { $0.hasPrefix(group) }
    }

    /// Adds a mistake, unless its key already has one.
    private mutating func note(_ key: String, _ rule: String) { note([(key, rule)]) }

    /// Adds the mistakes that a check found, apart from mistakes of keys that have an earlier mistake, or whose file has a mistake,
    /// and of keys that were probably misspelled.
    private mutating func note(_ found: [(key: String, rule: String)]) {
        let missing = intended.filter { key in sources.allSatisfy { $0(key) == nil } }
        let known = missing.union(mistakes.compactMap(\.key))
        for (key, rule) in found where known.isDisjoint(with: [key, key + "File"]) {
            mistakes.append(ConfigurationMistake(place: place(of: key), key: key, rule: rule))
        }
    }

    /// The flag or variable that gives the name in a key; nil if the key has none, or the file has the name.
    private func placeOfName(in key: String) -> String? {
        guard let group = NamedGroup.all.first(where: { key.hasPrefix($0.key + ".") }) else { return nil }
        let name = String(key.dropFirst(group.key.count + 1).prefix { $0 != "." })
        let start = "\(group.key).\(name)."
        let ofFile = (file?.entries ?? []).map(\.key) + (file?.vacant ?? []).map { $0.key + "." }
        if ofFile.contains(where: { $0.hasPrefix(start) }) { return nil }
        if flags.contains(where: { $0.key.hasPrefix(start) }) { return "flags" }
        let listed = SettingValue.list(environment[group.variable] ?? "")
        return listed.contains(name) ? "environment \(group.variable)" : nil
    }

    /// The place of a key, or of the key that names the file with its value; for a missing key, the place of its group
    /// in the file.
    private func place(of key: String) -> String {
        let names = [key, key + "File"]
        if flags.contains(where: { names.contains($0.key) }) { return "flags" }
        let variables = names.map(Self.variable(for:))
        if let variable = variables.first(where: { environment[$0] != nil }) { return "environment \(variable)" }
        for name in names {
            let entry = file.flatMap { ($0.entries + $0.vacant).first { $0.key == name } }
            if let entry { return "\(file?.path ?? ""):\(entry.line)" }
        }
        if let place = placeOfName(in: key) { return place }
        guard let file else { return "configuration" }
        var parts = key.split(separator: ".").dropLast()
        while !parts.isEmpty {
            let start = parts.joined(separator: ".")
            let entry = file.entries.first { $0.key.hasPrefix(start + ".") } ?? file.vacant.first { $0.key == start }
            if let entry { return "\(file.path):\(entry.line)" }
            parts = parts.dropLast()
        }
        return file.path
    }

    /// The variable of a key. By bytes, which is many times faster than by characters: an upstream has some 40.
    package static func variable(for key: String) -> String {
        var name = Array(prefix.utf8)
        var wasLower = false
        for byte in key.utf8 {
            let isLower = (0x61...0x7A).contains(byte)
            let isUpper = (0x41...0x5A).contains(byte)
            if isUpper, wasLower { name.append(0x5F) }
            // Keys with other characters than those of ASCII have no variable.
            let isKept = isUpper || (0x30...0x39).contains(byte) || byte >= 0x80
            name.append(isLower ? byte - 0x20 : isKept ? byte : 0x5F)
            wasLower = isLower
        }
        return String(decoding: name, as: UTF8.self)
    }
}
