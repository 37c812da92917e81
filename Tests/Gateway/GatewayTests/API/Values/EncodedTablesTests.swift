import SessionCore
import Testing

@testable import Gateway

@Suite struct EncodedTablesTests {
    private let tables = EncodedTables()

    private func table(_ text: String) -> EncodedTable {
        EncodedTable(bytes: Array(text.utf8), gaps: [EncodedTable.Gap(place: text.utf8.count, changedAt: nil)])
    }

    @Test func aTableIsFoundByItsTagOnly() throws {
        let tag = EntityTag("s1-7-f", isWeak: true)
        #expect(tables[tag] == nil)
        tables.keep(table("[]"), tag: tag)
        guard case .whole(let kept) = tables[tag] else { return #expect(Bool(false), "the table is not kept") }
        #expect(kept.json(at: .zero) == Array("[]null".utf8))
        for other in ["s1-8-f", "s1-7-s", "s2-7-f"] { #expect(tables[EntityTag(other, isWeak: true)] == nil) }
    }

    @Test func aLongTableIsKeptAsItsLength() {
        let tag = EntityTag("s1-7-f", isWeak: true)
        tables.keep(table(String(repeating: " ", count: 100_000)), tag: tag)
        guard case .length(100_000) = tables[tag] else { return #expect(Bool(false), "the length is not kept") }
    }

    @Test func tablesReplaceOthersAndNeverAnswerForThem() {
        let tags = (0..<2000).map { EntityTag("s\($0)-1-f", isWeak: true) }
        for (number, tag) in tags.enumerated() { tables.keep(table("\(number)"), tag: tag) }
        var found = 0
        for (number, tag) in tags.enumerated() {
            guard case .whole(let kept) = tables[tag] else { continue }
            found += 1
            #expect(kept.bytes == Array("\(number)".utf8))
        }
        #expect((1...256).contains(found))
    }
}
