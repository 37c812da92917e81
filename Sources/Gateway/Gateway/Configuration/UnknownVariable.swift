extension ConfigurationReader {
    /// An environment variable that has the prefix of the settings and is not the variable of a setting.
    package struct UnknownVariable: Sendable, CustomStringConvertible {
        package let name: String
        /// The most similar known name; nil if none is similar.
        package let suggestion: String?

        /// A sentence without a period.
        package var description: String {
            let subject = "the environment variable \(name)"
            if let suggestion { return "\(subject) is not a setting; did you mean \(suggestion)?" }
            return subject + (listing.map { " has no effect: \($0) must list its name" } ?? " is not a setting")
        }

        /// The variable that has to list the name of the upstream, feed or key in this one; nil if this one would be no
        /// setting with any name.
        private var listing: String? {
            let group = NamedGroup.all.first { group in
                let start = ConfigurationReader.variable(for: group.key) + "_"
                guard name.hasPrefix(start) else { return false }
                return Settings.all.contains { setting in
                    guard setting.key.hasPrefix(group.key + ".*."), !setting.key.hasSuffix(".*") else { return false }
                    let end = ConfigurationReader.variable(for: setting.key).dropFirst(start.count + 1)
                    let rest = name.dropFirst(start.count)
                    // At least one character of the name is before the end.
                    return rest.dropFirst().hasSuffix(end) || (setting.isSecret && rest.hasSuffix("\(end)_FILE"))
                }
            }
            return group?.variable
        }
    }
}
