/// Writes metrics in the Prometheus text format, version 0.0.4.
package struct MetricsText {
    private(set) var text = ""
    private var isOpen: Metric?

    /// Writes one sample. The samples of a metric must follow one another.
    package mutating func write(_ metric: Metric, labels: [String] = [], _ value: Double) {
        open(metric)
        line(metric.name, metric, labels, value)
    }

    /// Writes one sample that is a whole number.
    package mutating func write(_ metric: Metric, labels: [String] = [], _ value: some BinaryInteger) {
        write(metric, labels: labels, Double(value))
    }

    /// Writes the samples of a metric that may have none.
    package mutating func write<Value: BinaryInteger>(
        _ metric: Metric,
        each samples: [(labels: [String], value: Value)]
    ) {
        open(metric)
        for (labels, value) in samples { write(metric, labels: labels, value) }
    }

    /// Writes a histogram.
    ///
    /// - Parameters:
    ///   - bounds: The upper bounds of the buckets, except for the last bucket, which has none.
    ///   - counts: The count of each bucket, not cumulated.
    ///   - sum: The sum of the measurements.
    package mutating func write(
        _ metric: Metric,
        labels: [String] = [],
        bounds: [Double],
        counts: [UInt64],
        sum: Double
    ) {
        open(metric)
        var total: UInt64 = 0
        for (index, count) in counts.enumerated() {
            total &+= count
            let bound = index < bounds.count ? Self.number(bounds[index]) : "+Inf"
            line(metric.name + "_bucket", metric, labels, Double(total), more: ("le", bound))
        }
        line(metric.name + "_sum", metric, labels, sum)
        line(metric.name + "_count", metric, labels, Double(total))
    }

    /// Writes the description of a metric, also of one without samples.
    package mutating func open(_ metric: Metric) {
        guard isOpen != metric else { return }
        isOpen = metric
        text += "# HELP \(metric.name) \(metric.help)\n# TYPE \(metric.name) \(metric.kind.rawValue)\n"
    }

    private mutating func line(
        _ name: String,
        _ metric: Metric,
        _ values: [String],
        _ value: Double,
        more: (String, String)? = nil
    ) {
        precondition(values.count == metric.labels.count, "\(metric.name) has other labels")
        let pairs = Array(zip(metric.labels, values)) + (more.map { [$0] } ?? [])
        text += name
        if !pairs.isEmpty {
            text += "{" + pairs.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",") + "}"
        }
        text += " \(Self.number(value))\n"
    }

    private static func number(_ value: Double) -> String {
        if let whole = Int64(exactly: value) { return "\(whole)" }
        return value.isNaN ? "NaN" : value.isInfinite ? (value > 0 ? "+Inf" : "-Inf") : "\(value)"
    }

    /// The value of a label, with quotation marks, backslashes and new lines escaped.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
