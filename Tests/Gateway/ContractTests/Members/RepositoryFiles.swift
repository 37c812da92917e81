internal import Foundation

/// The files of this repository, found from the path of this file.
enum RepositoryFiles {
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The paths of all files under a folder, in a fixed order.
    static func paths(under folder: String) throws -> [String] {
        let base = root.appending(path: folder).resolvingSymlinksInPath()
        return try FileManager.default.subpathsOfDirectory(atPath: base.path).sorted().map { "\(folder)/\($0)" }
    }

    /// The texts of all Swift files under some folders, in a fixed order.
    static func swiftTexts(under folders: String...) throws -> [String] {
        var texts: [String] = []
        for folder in folders {
            let base = root.appending(path: folder).resolvingSymlinksInPath()
            let names = try FileManager.default.subpathsOfDirectory(atPath: base.path)
            for name in names.sorted() where name.hasSuffix(".swift") {
                texts.append(try String(contentsOf: base.appending(path: name), encoding: .utf8))
            }
        }
        return texts
    }
}
