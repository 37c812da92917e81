extension Settings {
    /// The documentation of all keys, as a Markdown table.
    package static var table: String {
        var lines = ["| key | environment | values | default | meaning |", "|---|---|---|---|---|"]
        for setting in all {
            let variable = ConfigurationReader.variable(for: setting.key.replacing("*", with: "NAME"))
            let secret = setting.isSecret ? " Or `\(setting.key)File`, `\(variable)_FILE`: a file that holds it." : ""
            lines.append(
                "| `\(setting.key)` | `\(variable)` | \(setting.values) | \(setting.defaultValue) "
                    + "| \(setting.meaning)\(secret) |"
            )
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
