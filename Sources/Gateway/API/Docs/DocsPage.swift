internal import Synchronization
internal import Yams

/// The readable API page: plain HTML made from openapi.yaml.
///
/// Making it takes up to a second, so the gateway does that once, beside the requests; those that come earlier wait.
final class DocsPage: Sendable {
    private enum State {
        /// *Leaves to* `rendered`.
        case waiting([@Sendable ([UInt8]) -> Void])
        /// *Entered* by `render`.
        case rendered([UInt8])
    }

    private let yaml: String
    private let state = Mutex(State.waiting([]))

    /// A page over a contract, not rendered yet.
    init(yaml: String) { self.yaml = yaml }

    /// A page over the contract of this program.
    convenience init() {
        let bytes = EmbeddedFiles.shared["openapi.yaml"].map { Array($0.bytes.bytes) } ?? []
        self.init(yaml: String(decoding: bytes, as: UTF8.self))
    }

    /// Makes the page, and answers those who wait for it.
    func render() {
        let root = (try? Yams.compose(yaml: yaml)).flatMap { $0 }
        var writer = DocsWriter(root: root)
        let html = Array(writer.page().utf8)
        let waiting: [@Sendable ([UInt8]) -> Void] = state.withLock { state in
            defer { state = .rendered(html) }
            if case .waiting(let waiting) = state { return waiting } else { return [] }
        }
        for ready in waiting { ready(html) }
    }

    /// The page; nil while it is not made, then `ready` gets it.
    func html(ready: @escaping @Sendable ([UInt8]) -> Void) -> [UInt8]? {
        state.withLock { state in
            switch state {
            case .rendered(let html): return html
            case .waiting(let others):
                state = .waiting(others + [ready])
                return nil
            }
        }
    }
}
