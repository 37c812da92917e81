internal import Synchronization
internal import Yams

/// The readable API page: plain HTML made from openapi.yaml.
final class DocsPage: Sendable {
    private let yaml: String
    private let rendered = Mutex<[UInt8]?>(nil)

    /// A page over a contract, not rendered yet.
    init(yaml: String) { self.yaml = yaml }

    /// A page over the contract of this program.
    convenience init() {
        let bytes = EmbeddedFiles.shared["openapi.yaml"].map { Array($0.bytes.bytes) } ?? []
        self.init(yaml: String(decoding: bytes, as: UTF8.self))
    }

    /// The page. Rendered once; the gateway asks for it at its start, so that no request waits for it.
    var html: [UInt8] {
        rendered.withLock { rendered in
            if let rendered { return rendered }
            let root = (try? Yams.compose(yaml: yaml)).flatMap { $0 }
            var writer = DocsWriter(root: root)
            let bytes = Array(writer.page().utf8)
            rendered = bytes
            return bytes
        }
    }
}
