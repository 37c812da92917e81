/// Whether a message was accepted.
enum MessageVerdict: Sendable, Hashable {
    /// It was; whatever became ready is processed in order.
    case accepted([SequenceEvent])
    /// It was, but earlier ones are missing; what became ready by this instant goes on then.
    case waits(until: Duration)
    /// It was here before: control code 32 or 33.
    case duplicate(code: Int)
    /// Too much waits already.
    case refused
}
