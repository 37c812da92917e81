/// The updates of a quote feed as TLCP lines: 30 items of six fields, of which four change.
struct QuoteLines {
    static let items = (1...30).map { "item\($0)" }
    static let fields = ["name", "last_price", "time", "pct_change", "quantity", "status"]

    /// The first values of all items.
    let snapshot: [[UInt8]]
    /// Further updates, each with its CR-LF.
    let updates: [[UInt8]]
    /// The bytes of the updates.
    let bytes: [UInt8]

    init(count: Int) {
        snapshot = Self.items.indices.map { item in
            Array("U,1,\(item + 1),Instrument \(item + 1)|10.00|12:00:00|0.00|1000|open".utf8)
        }
        var random: UInt32 = 1
        updates = (0..<count).map { line in
            random = random &* 1_664_525 &+ 1_013_904_223
            let price = "\(random >> 25).\(Self.twoDigits(random % 100))"
            let time = "12:\(Self.twoDigits(random % 60)):\(Self.twoDigits((random >> 8) % 60))"
            let change = "\(random & 1 == 1 ? "-" : "")\((random >> 4) % 10).\(Self.twoDigits((random >> 12) % 100))"
            let item = line % Self.items.count + 1
            return Array("U,1,\(item),|\(price)|\(time)|\(change)|\((random >> 16) * 100)|\r\n".utf8)
        }
        bytes = Array(updates.joined())
    }

    private static func twoDigits(_ number: UInt32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
