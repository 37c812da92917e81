internal import Primitives
internal import Yams

/// The readable API page: HTML made from openapi.yaml, the table of codes and a template.
///
/// Rendering takes up to a second, so it is done once, in the background; earlier requests wait.
final class DocsPage: Sendable {
    private enum State {
        /// *Leaves to* `rendered`.
        case waiting([@Sendable (StaticFile) -> Void])
        /// *Entered* by `render`.
        case rendered(StaticFile)
    }

    private let state = RankedMutex(State.waiting([]))

    /// A page that is not rendered yet.
    init() {}

    /// Renders the page, and answers the waiting requests.
    func render() {
        let writer = DocsWriter(
            root: Self.document("openapi.yaml"),
            codes: Self.document("codes.json"),
            members: Self.text("Members.md")
        )
        let html = StaticFile(name: "docs.html", bytes: Array(writer.page(template: Self.text("docs.html")).utf8))
        let waiting: [@Sendable (StaticFile) -> Void] = state.withLock { state in
            defer { state = .rendered(html) }
            if case .waiting(let waiting) = state { return waiting } else { return [] }
        }
        for ready in waiting { ready(html) }
    }

    /// The page; nil if it is not rendered yet. `ready` then receives the page once it is rendered.
    func html(ready: @escaping @Sendable (StaticFile) -> Void) -> StaticFile? {
        state.withLock { state in
            switch state {
            case .rendered(let html): return html
            case .waiting(let others):
                state = .waiting(others + [ready])
                return nil
            }
        }
    }

    private static func text(_ name: String) -> String {
        EmbeddedFiles.shared[name].map { String(decoding: $0.bytes.bytes, as: UTF8.self) } ?? ""
    }

    private static func document(_ name: String) -> Node? {
        (try? Yams.compose(yaml: text(name))).flatMap { $0 }
    }
}
