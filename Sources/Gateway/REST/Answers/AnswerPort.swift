internal import MicroHTTPD

/// The way in which an operation answers later: exactly once, from any thread; further answers are passed over.
struct AnswerPort: Sendable {
    private let send: @Sendable (Answer) -> Void

    /// A port.
    init(_ send: @escaping @Sendable (Answer) -> Void) { self.send = send }

    /// Answers.
    func answer(_ answer: Answer) { send(answer) }
}
