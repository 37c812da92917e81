import TestSupport

/// The size of one run, from its seed. Many small runs find more than few large ones, and what takes part in none of them hides
/// nothing of the others.
struct Cast {
    let gateways: Int
    /// The items of each reader.
    let readers: [[String]]
    let callers: Int
    let limitedCallers: Int
    let prepared: Int
    let holders: Int
    /// How often the engine loses an append or a delivery, in thousandths.
    let loss: Int
    /// The longest time between two publications, in milliseconds.
    let pace: Int
    /// How long a subscription is kept without readers.
    let linger: Duration

    init(using generator: inout SeededGenerator) {
        func one<Value>(of values: [Value]) -> Value { values[Int.random(in: values.indices, using: &generator)] }
        gateways = one(of: [2, 3, 3])
        readers = (0..<one(of: [1, 2, 3])).map { _ in one(of: [["raw1", "raw2"], ["raw3"], ["merge1", "merge2"]]) }
        callers = one(of: [0, 1, 2])
        limitedCallers = one(of: [0, 0, 1])
        prepared = one(of: [0, 1])
        holders = one(of: [0, 0, 1])
        loss = one(of: [0, 0, 5, 30])
        pace = one(of: [50, 200, 800])
        linger = .milliseconds(one(of: [500, 1000, 3000]))
    }
}
