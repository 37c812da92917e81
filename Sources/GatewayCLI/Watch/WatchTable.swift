internal import JSONText
internal import TLCP

/// The table of `watch` in a terminal: a row for each item, in COMMAND mode for each key, in DISTINCT and RAW mode for
/// each update. Times are seconds on any clock that does not go back.
struct WatchTable {
    /// How long a changed value is marked, in seconds.
    static let markTime = 1.5
    /// The most rows that are kept of DISTINCT and RAW updates.
    static let mostRows = 1_000
    /// The widest column, in characters.
    static let widestColumn = 40

    private enum Change { case up, down, other }

    private struct Cell {
        var value: String?
        var change = Change.other
        var changedAt: Double
    }

    private struct Row {
        let title: [String]
        var cells: [UpstreamName: Cell] = [:]

        /// The row without marks of changes.
        var unmarked: Row { Row(title: title, cells: cells.mapValues { Cell(value: $0.value, changedAt: -.infinity) }) }
    }

    /// The mode of the subscription. Of a feed, the first `stream` event tells the mode.
    private var mode: SubscriptionMode
    private let fields: [String]
    private var rows: [Row] = []
    /// DISTINCT and RAW: the last row of each item, which its next update changes, also after the rows were cleared.
    private var lastRows: [UpstreamName: Row] = [:]
    private var status = "connecting"
    private var note = ""
    private var updates = 0
    private var updatedAt: Double?

    /// An empty table with a column for each field.
    init(mode: SubscriptionMode, fields: [String]) {
        self.mode = mode
        self.fields = fields
    }

    // MARK: - Events

    mutating func apply(_ event: WatchEvent, now: Double) {
        switch event {
        case .status(let status, let failure):
            self.status = status.printable
            note = failure?.printable ?? ""
        case .other(let name, let content): apply(name, (try? JSONValue(parsing: content)) ?? .null)
        case .update(let update): apply(update, now: now)
        }
    }

    /// Applies an event other than an update: it changes the rows, sets the note, or has no effect.
    private mutating func apply(_ name: String, _ content: JSONValue) {
        let item = content["item"]?.string ?? content["itemPos"]?.number.map { "item \($0.text)" }
        switch name {
        case "stream" where content["resume"]?.string != "resumed", "subscribed":
            let known = content["sources"]?.array?.first?["mode"]?.string.flatMap(SubscriptionMode.init(rawValue:))
            let isOther = known.map { $0 != mode } ?? false
            mode = known ?? mode
            lastRows.removeAll()
            // A snapshot follows. In COMMAND mode it lacks the keys that were deleted meanwhile; in DISTINCT mode it
            // repeats rows that are shown already.
            if isOther || mode == .command || mode == .distinct { rows.removeAll() }
        case "clear-snapshot": rows.removeAll { $0.title.first.hasSameBytes(as: item?.printable) }
        case "lost-updates":
            note = "\(content["count"]?.number?.text ?? "some") updates of \(item ?? "an item") were lost"
        case "second-level-error":
            note = "key \(content["key"]?.string ?? ""): refused with code \(content["code"]?.number?.text ?? "")"
        case "closing": note = "the gateway closed the stream: \(content["reason"]?.string ?? "no reason given")"
        default: return
        }
        note = note.printable
    }

    private mutating func apply(_ update: WatchUpdate, now: Double) {
        updates += 1
        updatedAt = now
        let title = [update.item.printable] + (mode == .command ? [(update.key ?? "").printable] : [])
        let index = isKept ? rows.firstIndex { $0.title.hasSameNames(as: title) } : nil
        if mode == .command, update.command == "DELETE" {
            if let index { rows.remove(at: index) }
            return
        }
        let item = UpstreamName(update.item)
        var row = index.map { rows[$0] } ?? lastRows[item]?.unmarked ?? Row(title: title)
        for field in update.fields {
            let value = field.value?.printable
            let name = UpstreamName(field.name)
            let change = index == nil ? .other : Self.change(from: row.cells[name]?.value, to: value)
            row.cells[name] = Cell(value: value, change: change, changedAt: now)
        }
        if let index { rows[index] = row } else { rows.append(row) }
        if isKept { return }
        lastRows[item] = row
        if rows.count > Self.mostRows { rows.removeFirst(rows.count - Self.mostRows) }
    }

    /// Whether an update changes the row of its item or key; otherwise each update adds a row.
    private var isKept: Bool { mode == .merge || mode == .command }

    private static func change(from old: String?, to new: String?) -> Change {
        guard let old = old.flatMap(Double.init), let new = new.flatMap(Double.init), old != new else { return .other }
        return new > old ? .up : .down
    }

    // MARK: - Lines

    /// The lines of the table for a terminal, with the status in the last one.
    ///
    /// - Parameter isColoured: Whether the lines hold colours; without them arrows alone mark changes.
    func lines(width: Int, height: Int, now: Double, isColoured: Bool = true) -> [String] {
        let titles = ["item"] + (mode == .command ? ["key"] : [])
        let shown = isKept ? rows.prefix(max(0, height - 2)) : rows.suffix(max(0, height - 2))
        let widths = widths(titles, Array(shown))
        var lines = [style("1", cut(header(titles, widths), to: width), isColoured)]
        for row in shown { lines.append(line(row, titles.count, widths, width, now, isColoured)) }
        while lines.count < height - 1 { lines.append("") }
        lines.append(style("7", cut(statusLine(now, hidden: rows.count - shown.count), to: width), isColoured))
        return lines
    }

    /// The rows alone, for a terminal whose display has ended. Empty without rows.
    func lastLines(width: Int, height: Int, isColoured: Bool) -> [String] {
        let lines = lines(width: width, height: height, now: .infinity, isColoured: isColoured).dropLast()
        return rows.isEmpty ? [] : lines.filter { !$0.isEmpty }
    }

    private func widths(_ titles: [String], _ rows: [Row]) -> [Int] {
        var widths = (titles + fields).map(\.columns)
        for row in rows {
            for (index, title) in row.title.enumerated() { widths[index] = max(widths[index], title.columns) }
            for (index, field) in fields.enumerated() {
                let column = titles.count + index
                // The mark of a change takes one character.
                widths[column] = max(widths[column], text(row.cells[UpstreamName(field)]).columns + 1)
            }
        }
        return widths.map { min($0, Self.widestColumn) }
    }

    private func header(_ titles: [String], _ widths: [Int]) -> String {
        zip(titles + fields, widths).enumerated().map { index, column in
            index < titles.count ? pad(column.0, column.1) : pad(column.0, column.1, right: isNumeric(column.0))
        }.joined(separator: "  ")
    }

    private func line(
        _ row: Row,
        _ titleCount: Int,
        _ widths: [Int],
        _ width: Int,
        _ now: Double,
        _ isColoured: Bool
    ) -> String {
        var line = ""
        var used = 0
        for (index, columnWidth) in widths.enumerated() {
            let gap = index == 0 ? "" : "  "
            let space = min(columnWidth, width - used - gap.count)
            if space <= 0 { break }
            used += gap.count + space
            if index < titleCount {
                line += gap + pad(row.title[index], space)
                continue
            }
            let field = fields[index - titleCount]
            let cell = row.cells[UpstreamName(field)]
            let isMarked = cell.map { now - $0.changedAt < Self.markTime } ?? false
            let mark = isMarked ? Self.mark(cell?.change ?? .other) : (sign: " ", colour: "0")
            let value = pad(text(cell), max(0, space - 1), right: isNumeric(field))
            line += gap + style(mark.colour, value + mark.sign, isColoured && isMarked)
        }
        return line
    }

    private func statusLine(_ now: Double, hidden: Int) -> String {
        var parts = [status, "q: quit", "\(updates) update\(updates == 1 ? "" : "s")"]
        if let updatedAt { parts.append("last \(Int(min(max(0, now - updatedAt), 1e9))) s ago") }
        if hidden > 0 { parts.append("\(hidden) more rows") }
        if !note.isEmpty { parts.append(note) }
        return parts.joined(separator: " · ")
    }

    private static func mark(_ change: Change) -> (sign: String, colour: String) {
        switch change {
        case .up: ("▲", "32")
        case .down: ("▼", "31")
        case .other: ("•", "36")
        }
    }

    private func text(_ cell: Cell?) -> String { cell.map { $0.value ?? "null" } ?? "" }

    /// Whether the values of a column are numbers, which are aligned on the right.
    private func isNumeric(_ field: String) -> Bool {
        let values = rows.compactMap { $0.cells[UpstreamName(field)]?.value }
        return !values.isEmpty && values.allSatisfy { Double($0) != nil }
    }

    private func pad(_ text: String, _ width: Int, right: Bool = false) -> String {
        let cut = cut(text, to: width)
        let space = String(repeating: " ", count: max(0, width - cut.columns))
        return right ? space + cut : cut + space
    }

    private func cut(_ text: String, to width: Int) -> String {
        if text.columns <= width { return text }
        var left = width - 1
        let kept = text.prefix { character in
            left -= character.columns
            return left >= 0
        }
        return kept + (width > 0 ? "…" : "")
    }

    private func style(_ code: String, _ text: String, _ isOn: Bool) -> String {
        isOn ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
