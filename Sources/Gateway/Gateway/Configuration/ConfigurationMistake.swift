internal import FoundationEssentials

/// One mistake of a configuration.
package struct ConfigurationMistake: Error, Sendable, Equatable, CustomStringConvertible {
    /// The place: a file with its line, an environment variable or a flag.
    package let place: String
    /// The key; nil for a mistake of the file as a whole.
    package let key: String?
    /// The rule that the value, or the file, breaks.
    package let rule: String

    /// `place: key: rule`.
    package var description: String { [place, key, rule].compactMap(\.self).joined(separator: ": ") }
}

/// All mistakes of a configuration; never empty.
package struct ConfigurationError: Error, Sendable, CustomStringConvertible {
    /// The mistakes, in the order of the sources.
    package let mistakes: [ConfigurationMistake]

    package var description: String { mistakes.map(\.description).joined(separator: "\n") }
}

/// A file of the configuration that cannot be read.
package struct UnreadableFile: Error, CustomStringConvertible {
    package let path: String

    package init(path: String) { self.path = path }

    package var description: String { "\(path): \(reason)" }

    /// What is wrong, as the end of a sentence that begins with the path.
    var reason: String {
        let files = FileManager.default
        guard files.fileExists(atPath: path) else { return isHidden ? Self.notPermitted : "does not exist" }
        guard files.isReadableFile(atPath: path) else { return Self.notPermitted }
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let type = try? files.attributesOfItem(atPath: target)[.type] as? FileAttributeType
        // A pipe has nothing to read at a reload.
        return type == .typeRegular ? "cannot be read as UTF-8 text" : "must be a file, not a folder or a pipe"
    }

    private static let notPermitted = "must not be read by this user"

    /// Whether the user must not open a folder of the path.
    private var isHidden: Bool {
        do {
            _ = try FileManager.default.attributesOfItem(atPath: path)
            return false
        } catch {
            return (error as? CocoaError)?.code == .fileReadNoPermission
        }
    }
}
