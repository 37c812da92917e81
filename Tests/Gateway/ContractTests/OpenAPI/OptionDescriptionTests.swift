import JSONText
import LightstreamerClient
import SessionCore
import Testing

@testable import Gateway

/// The documentation of connection options agrees with `ConnectionOption`.
@Suite struct OptionDescriptionTests {
    private static let older = ClientConfiguration.Edition.old.defaultOptions

    private static func defaults(of option: ConnectionOption) -> (newer: String, older: String) {
        (option.text(in: ConnectionOptionValues()), option.text(in: older))
    }

    /// The default as openapi.yaml has it, where the value without a default is JSON null.
    private static func value(of option: ConnectionOption) -> String {
        let (newer, older) = defaults(of: option)
        let text = newer == older ? newer : "\(newer) (edition old: \(older))"
        return text.replacing("none", with: "null")
    }

    private static func properties(of schema: String) throws -> JSONObject {
        let schema = try OpenAPIDocument().root["components"]?["schemas"]?[schema]
        return try #require(schema?["properties"]?.object)
    }

    @Test func openAPIDescribesEachOption() throws {
        let properties = try Self.properties(of: "RequestedOptions")
        #expect(properties.map(\.name) == ConnectionOption.all.map(\.name))
        for option in ConnectionOption.all {
            let expected =
                "\(option.meaning) It \(option.limits); other values return 422. Default: \(Self.value(of: option)). "
                + "A change takes effect \(option.effect.rawValue)."
            #expect(properties[option.name]?["description"]?.string == expected)
        }
    }

    @Test func openAPIDescribesThePatchOfEachOption() throws {
        let properties = try Self.properties(of: "ConnectionOptionsPatch")
        #expect(properties.map(\.name) == ConnectionOption.all.map(\.name))
        for option in ConnectionOption.all {
            let value = Self.value(of: option)
            let expected = "\(option.meaning) null restores the default: \(value == "null" ? "none" : value)."
            #expect(properties[option.name]?["description"]?.string?.hasPrefix(expected) == true, "\(option.name)")
        }
    }

    @Test func theGuideHasARowForEachOption() throws {
        let guide = "Sources/Client/LightstreamerClient/Documentation.docc/Library/ConnectionOptionTable.md"
        let rows = try RepositoryFiles.text(guide).split(separator: "\n").filter { $0.hasPrefix("| `") }
        let expected = ConnectionOption.all.map { option in
            let (newer, older) = Self.defaults(of: option)
            let values = option.limits.replacing("must be ", with: "", maxReplacements: 1)
            return "| `\(option.name)` | \(values) | \(newer) | \(older) | \(option.effect.rawValue) "
                + "| \(option.meaning) |"
        }
        #expect(rows.map(String.init) == expected)
    }

    @Test func theDashboardHasTheUnitOfEachOption() throws {
        let text = try RepositoryFiles.text("Sources/Gateway/Gateway/Resources/Dashboard/Views/options.js")
        let units = try #require(text.firstMatch(of: /units = \{([^}]*)\}/)?.output.1)
        let written = units.matches(of: /([A-Za-z]+): "([^"]+)"/).map { (String($0.output.1), String($0.output.2)) }
        let expected = ConnectionOption.all.compactMap { option -> (String, String)? in
            switch option.storage {
            case .seconds, .connectTimeout: (option.name, "s")
            case .bytes: (option.name, "bytes")
            case .bandwidth: (option.name, "kbit/s")
            case .flag, .transport, .headers: nil
            }
        }
        #expect(Dictionary(uniqueKeysWithValues: written) == Dictionary(uniqueKeysWithValues: expected))
        let transports = try #require(text.firstMatch(of: /transports = \[([^\]]*)\]/)?.output.1)
        let words = transports.matches(of: /"([A-Z-]+)"/).map { String($0.output.1) }
        #expect(words == ForcedTransport.allCases.map(\.rawValue))
    }

    @Test func eachOptionHasASettingForUpstreams() {
        let keys = Set(Settings.all.map(\.key))
        for option in ConnectionOption.all { #expect(keys.contains("upstreams.*.options.\(option.name)")) }
    }

    @Test func eachValueIsReadBackFromItsText() throws {
        for option in ConnectionOption.all {
            for values in [ConnectionOptionValues(), Self.older] {
                let text = option.text(in: values)
                if text == "none" { continue }
                var read = ConnectionOptionValues()
                try option.read(text, into: &read)
                #expect(!option.differs(read, values), "\(option.name)")
            }
        }
    }
}
