import Testing

@testable import Gateway

@Suite struct MetricsTextTests {
    private static let labelled = Metric(.counter, "a_total", labels: ["x", "y"]).means("Something.")

    @Test func familyIsDescribedOnceBeforeItsSamples() {
        var text = MetricsText()
        text.write(Self.labelled, labels: ["1", "2"], 3)
        text.write(Self.labelled, labels: ["1", "3"], 4.5)
        #expect(
            text.text == """
                # HELP a_total Something.
                # TYPE a_total counter
                a_total{x="1",y="2"} 3
                a_total{x="1",y="3"} 4.5

                """
        )
    }

    /// Label values may come from a configuration or a server: they must not start a new line.
    @Test func valuesOfLabelsStayInTheirQuotationMarks() {
        var text = MetricsText()
        text.write(Self.labelled, labels: ["a\"} 1\nevil 2", "back\\slash"], 1)
        #expect(text.text.hasSuffix("a_total{x=\"a\\\"} 1\\nevil 2\",y=\"back\\\\slash\"} 1\n"))
        #expect(text.text.split(separator: "\n").count == 3)
    }

    @Test func bucketsAreAddedUp() {
        var text = MetricsText()
        let metric = Metric(.histogram, "h_seconds").means("Something.")
        text.write(metric, bounds: [0.5, 1], counts: [2, 0, 3], sum: 7.25)
        #expect(
            text.text.hasSuffix(
                """
                h_seconds_bucket{le="0.5"} 2
                h_seconds_bucket{le="1"} 2
                h_seconds_bucket{le="+Inf"} 5
                h_seconds_sum 7.25
                h_seconds_count 5

                """
            )
        )
    }
}
