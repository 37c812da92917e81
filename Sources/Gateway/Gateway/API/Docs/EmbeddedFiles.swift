internal import CGatewayFiles
internal import StreamIO
internal import Synchronization

/// A file of the pages, in its original and its compressed form.
struct StaticFile: Sendable {
    let mediaType: String
    let bytes: SharedBytes
    /// The tag over these bytes.
    let tag: EntityTag
    /// The file compressed by gzip, and the tag of the result; nil if compression does not make the file shorter.
    let compressed: (bytes: SharedBytes, tag: EntityTag)?

    /// A file whose media type follows from its name.
    init(name: String, bytes: [UInt8]) {
        mediaType = Self.mediaType(name)
        self.bytes = SharedBytes(bytes)
        tag = EntityTag(of: bytes)
        compressed = Self.compress(bytes).map { (SharedBytes($0), EntityTag(of: $0)) }
    }

    private static func compress(_ bytes: [UInt8]) -> [UInt8]? {
        let most = bytes.count
        let result = [UInt8](unsafeUninitializedCapacity: most) { output, count in
            count = bytes.withUnsafeBufferPointer { cgf_gzip($0.baseAddress, most, output.baseAddress, most) }
        }
        return result.isEmpty ? nil : result
    }

    private static func mediaType(_ name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "ts": "application/typescript; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "svg": "image/svg+xml"
        case "yaml": "application/yaml"
        case "json": "application/json"
        default: "application/octet-stream"
        }
    }
}

/// The files that are part of the binary: the contract, the module for browsers, the dashboard and the API page.
struct EmbeddedFiles: Sendable {
    /// The files of this program, compressed on first use, which takes up to 0.1 s.
    static let shared = EmbeddedFiles()
    private static let ready = Atomic<Bool>(false)

    static var areReady: Bool { ready.load(ordering: .acquiring) }

    private let files: [String: StaticFile]

    private init() {
        var files: [String: StaticFile] = [:]
        var index = 0
        while let file = cgf_file_at(index)?.pointee {
            let name = String(cString: file.name)
            let bytes = Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
            files[name] = StaticFile(name: name, bytes: bytes)
            index += 1
        }
        self.files = files
        Self.ready.store(true, ordering: .releasing)
    }

    subscript(name: String) -> StaticFile? { files[name] }
}
