import JSONText
import Testing

@testable import Gateway

@Suite struct MetricDescriptionTests {
    @Test func openAPIListsEachMetric() throws {
        let operation = try OpenAPIDocument().root["paths"]?["/metrics"]?["get"]
        let description = try #require(operation?["description"]?.string)
        let listed = description.split(separator: "\n").filter { $0.hasPrefix("- `") }.map(String.init)
        let expected = MetricNames.all.map { metric in
            let labels = metric.labels.isEmpty ? "" : "; " + metric.labels.joined(separator: ", ")
            return "- `\(metric.name)` (\(metric.kind.rawValue)\(labels)): \(metric.help)"
        }
        #expect(listed == expected)
    }
}
