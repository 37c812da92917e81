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

    @Test func openAPIDescribesEachOption() throws {
        let schema = try OpenAPIDocument().root["components"]?["schemas"]?["RequestedOptions"]
        let properties = try #require(schema?["properties"]?.object)
        #expect(properties.map(\.name) == ConnectionOption.all.map(\.name))
        for option in ConnectionOption.all {
            let (newer, older) = Self.defaults(of: option)
            let value = newer == older ? newer : "\(newer) (edition old: \(older))"
            let expected =
                "\(option.meaning) Default: \(value). A change takes effect \(option.effect.rawValue)."
            #expect(properties[option.name]?["description"]?.string == expected)
        }
    }

    @Test func theGuideHasARowForEachOption() throws {
        let guide = "Sources/LightstreamerClient/Documentation.docc/Guides/ConnectionOptionTable.md"
        let rows = try RepositoryFiles.text(guide).split(separator: "\n").filter { $0.hasPrefix("| `") }
        let expected = ConnectionOption.all.map { option in
            let (newer, older) = Self.defaults(of: option)
            let values = option.limits.replacing("must be ", with: "", maxReplacements: 1)
            return "| `\(option.name)` | \(values) | \(newer) | \(older) | \(option.effect.rawValue) "
                + "| \(option.meaning) |"
        }
        #expect(rows.map(String.init) == expected)
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
