import SessionCore
import Testing

@testable import Gateway

@Suite struct DeadlineBookTests {
    private func moment(_ seconds: Int64) -> Moment { Moment(nanoseconds: seconds * 1_000_000_000) }

    @Test func actionsAreTakenInTheOrderOfTheirTime() {
        var book = DeadlineTable<String>()
        _ = book.add("c", at: moment(3))
        _ = book.add("a", at: moment(1))
        _ = book.add("b", at: moment(2))
        _ = book.add("b2", at: moment(2))
        #expect(book.next == moment(1))
        #expect(book.take(dueBy: moment(2)) == ["a", "b", "b2"])
        #expect(book.take(dueBy: moment(2)).isEmpty)
        #expect(book.takeAll() == ["c"])
        #expect(book.next == nil)
    }

    @Test func aStruckOutActionIsNotTaken() {
        var book = DeadlineTable<String>()
        let first = book.add("a", at: moment(1))
        let second = book.add("b", at: moment(1))
        book.remove(first)
        book.remove(first)
        #expect(book.take(dueBy: moment(9)) == ["b"])
        book.remove(second)
        #expect(book.next == nil)
    }
}
