/// A group of settings: the beginning of their keys, and the part of the configuration that holds their values.
struct SettingGroup<Part>: Sendable {
    typealias Path<Value> = any WritableKeyPath<Part, Value> & Sendable
    typealias Change = (inout Part) throws(SettingError) -> Void

    let prefix: String
    /// When changed values take effect.
    var effect = Setting.Effect.reload
    /// The part with the values of a configuration; the default part for keys with a `*`.
    let part: @Sendable (GatewayConfiguration) -> Part
    /// Changes the part that belongs to a name.
    let change: @Sendable (inout GatewayConfiguration, String, Change) throws(SettingError) -> Void

    /// A setting with its own conversion from and to text.
    func setting(
        _ key: String,
        _ type: Setting.ValueType,
        isSecret: Bool = false,
        compared: (@Sendable (Part) -> String?)? = nil,
        text: @escaping @Sendable (Part) -> String,
        apply: @escaping @Sendable (inout Part, String) throws(SettingError) -> Void
    ) -> Setting {
        Setting(
            prefix + key,
            type,
            effect: effect,
            isSecret: isSecret,
            text: { [part] in text(part($0)) },
            compared: { [part] in if let compared { compared(part($0)) } else { text(part($0)) } },
            apply: { [change] all, name, value throws(SettingError) in
                try change(&all, name) { part throws(SettingError) in try apply(&part, value) }
            }
        )
    }

    func integer<Number: FixedWidthInteger & SendableMetatype>(
        _ key: String,
        _ path: Path<Number>,
        _ range: ClosedRange<Int>,
        unit: String? = nil
    ) -> Setting {
        setting(key, .integer(range, unit: unit)) {
            "\($0[keyPath: path])"
        } apply: { part, text throws(SettingError) in
            part[keyPath: path] = try SettingValue.integer(text, range, unit: unit)
        }
    }

    /// A whole number that may be missing; `default` describes its absence.
    func integer(_ key: String, _ path: Path<Int?>, _ range: ClosedRange<Int>, default absence: String) -> Setting {
        setting(key, .integer(range, unit: nil)) {
            $0[keyPath: path].map { "\($0)" } ?? absence
        } apply: { part, text throws(SettingError) in
            let number: Int = try SettingValue.integer(text, range)
            part[keyPath: path] = number
        }
    }

    func seconds(
        _ key: String,
        _ path: Path<Duration>,
        zeroAllowed: Bool = false,
        most: Double = SettingValue.longestTime
    ) -> Setting {
        setting(key, .seconds(zeroAllowed: zeroAllowed, most: most)) {
            SettingValue.text($0[keyPath: path] / .seconds(1))
        } apply: { part, text throws(SettingError) in
            part[keyPath: path] = try SettingValue.duration(text, zeroAllowed: zeroAllowed, most: most)
        }
    }

    func flag(_ key: String, _ path: Path<Bool>) -> Setting {
        setting(key, .flag) {
            "\($0[keyPath: path])"
        } apply: { part, text throws(SettingError) in
            part[keyPath: path] = try SettingValue.flag(text)
        }
    }

    func choice<Choice: RawRepresentable & CaseIterable & SendableMetatype>(
        _ key: String,
        _ path: Path<Choice>
    ) -> Setting where Choice.RawValue == String {
        setting(key, .choice(Choice.allCases.map(\.rawValue))) {
            $0[keyPath: path].rawValue
        } apply: { part, text throws(SettingError) in
            part[keyPath: path] = try SettingValue.choice(text)
        }
    }

    /// A text that is empty if it is missing; `default` describes its absence.
    func text(_ key: String, _ shape: String, _ path: Path<String>, default absence: String = "required") -> Setting {
        setting(key, .text(shape)) {
            $0[keyPath: path].isEmpty ? absence : $0[keyPath: path]
        } apply: { part, text throws(SettingError) in
            part[keyPath: path] = text
        }
    }

    /// A text that may be missing; `default` describes its absence.
    func text(_ key: String, _ shape: String, _ path: Path<String?>, default absence: String = "none") -> Setting {
        setting(key, .text(shape)) {
            $0[keyPath: path] ?? absence
        } apply: { part, text throws(SettingError) in
            part[keyPath: path] = text
        }
    }

    /// A secret that is empty if it is missing.
    func secret(_ key: String, _ shape: String, _ path: Path<String>) -> Setting {
        setting(key, .text(shape), isSecret: true) {
            $0[keyPath: path].isEmpty ? "none" : "set"
        } apply: { part, text throws(SettingError) in
            part[keyPath: path] = text
        }
    }

    func secret(_ key: String, _ shape: String, _ path: Path<String?>) -> Setting {
        setting(key, .text(shape), isSecret: true, compared: { $0[keyPath: path] }) {
            $0[keyPath: path] == nil ? "none" : "set"
        } apply: { part, text throws(SettingError) in
            part[keyPath: path] = text
        }
    }
}

extension SettingGroup {
    /// The group with the same keys whose values are in a part of this part.
    func narrowed<Inner>(to path: Path<Inner>) -> SettingGroup<Inner> {
        SettingGroup<Inner>(prefix: prefix, effect: effect) { [part] in
            part($0)[keyPath: path]
        } change: { [change] all, name, inner throws(SettingError) in
            try change(&all, name) { part throws(SettingError) in try inner(&part[keyPath: path]) }
        }
    }
}

extension SettingGroup where Part: Sendable {
    /// A group whose values are in one part of the configuration.
    init(
        _ prefix: String,
        _ path: any WritableKeyPath<GatewayConfiguration, Part> & Sendable,
        effect: Setting.Effect = .reload
    ) {
        self.init(prefix: prefix, effect: effect) {
            $0[keyPath: path]
        } change: { all, _, change throws(SettingError) in
            try change(&all[keyPath: path])
        }
    }

    /// A group whose values are in the element of a list that has the name in the place of the asterisk. A new name
    /// adds an element, which `make` returns.
    init(
        _ prefix: String,
        each list: any WritableKeyPath<GatewayConfiguration, [Part]> & Sendable,
        _ name: any KeyPath<Part, String> & Sendable,
        _ make: @escaping @Sendable (GatewayConfiguration, String) -> Part
    ) {
        self.init(prefix: prefix) { _ in
            make(GatewayConfiguration(), "")
        } change: { all, wanted, change throws(SettingError) in
            let index = all[keyPath: list].firstIndex { $0[keyPath: name] == wanted } ?? all[keyPath: list].count
            if index == all[keyPath: list].count {
                let made = make(all, wanted)
                all[keyPath: list].append(made)
            }
            try change(&all[keyPath: list][index])
        }
    }
}
