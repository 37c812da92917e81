/// Runs large work outside the threads of the HTTP server, so that it does not delay other requests and streams. Tasks
/// run one after the other; their number is bounded.
final class BackgroundQueue: Sendable {
    /// The greatest number of waiting tasks.
    static let capacity = 1_000

    private let works: AsyncStream<@Sendable () -> Void>
    private let source: AsyncStream<@Sendable () -> Void>.Continuation

    /// An empty queue.
    init() {
        (works, source) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.capacity))
    }

    /// Adds work; false if the queue is full or stopped.
    func add(_ work: @escaping @Sendable () -> Void) -> Bool {
        if case .enqueued = source.yield(work) { true } else { false }
    }

    /// Runs tasks until cancellation.
    func run() async {
        for await work in works { work() }
    }

    /// Refuses further tasks; those that were added are still performed.
    func stop() { source.finish() }
}

extension Services {
    /// Performs a handler, on the background queue if its work is large; the response is then deferred.
    ///
    /// - Throws: What the handler throws; a 503 problem if the background queue is full.
    func perform(
        _ call: Call,
        isLarge: Bool,
        _ handler: @escaping @Sendable () throws -> Response
    ) throws -> OperationResult {
        guard isLarge else { return .response(try handler()) }
        let isAdded = background.add {
            do {
                call.respond(try handler())
            } catch {
                let problem = ProblemDetails.problem(for: error)
                call.respond(ProblemDetails.response(problem, requestID: call.requestID))
            }
        }
        guard isAdded else { throw Problem(.unavailable, detail: "Too many large requests are being processed.") }
        return .deferred
    }
}
