internal import CGatewayFiles
internal import MicroHTTPD
internal import StreamIO

/// The files that are part of the binary: the contract and the dashboard.
struct EmbeddedFiles: Sendable {
    /// One file.
    struct File: Sendable {
        /// Its media type.
        let mediaType: String
        /// Its bytes.
        let bytes: SharedBytes
        /// The tag over its bytes.
        let tag: EntityTag
    }

    /// The files of this program.
    static let shared = EmbeddedFiles()

    private let files: [String: File]

    private init() {
        var files: [String: File] = [:]
        var index = 0
        while let file = cgf_file_at(index)?.pointee {
            let name = String(cString: file.name)
            let bytes = Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
            files[name] = File(
                mediaType: Self.mediaType(name),
                bytes: SharedBytes(bytes),
                tag: EntityTag(of: bytes)
            )
            index += 1
        }
        self.files = files
    }

    /// The file of a name.
    subscript(name: String) -> File? { files[name] }

    /// The names of all files.
    var names: [String] { files.keys.sorted() }

    private static func mediaType(_ name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "svg": "image/svg+xml"
        case "yaml": "application/yaml"
        case "json": "application/json"
        default: "application/octet-stream"
        }
    }
}
