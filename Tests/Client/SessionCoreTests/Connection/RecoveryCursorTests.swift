internal import Testing

@testable internal import SessionCore

@Suite struct RecoveryCursorTests {
    @Test func repeatedNotificationsAreStale() {
        var cursor = RecoveryCursor()
        let first = (0..<5).allSatisfy { _ in cursor.isFresh() }
        #expect(first)
        cursor.recoveryRequested()
        let second = cursor.resumed(from: 3, inRecovery: true)
        #expect(second == .resumed)
        let third = (0..<4).map { _ in cursor.isFresh() }
        #expect(third == [false, false, true, true])
        #expect(cursor.processed == 7)
    }

    @Test func withoutProgressTheFlowResumesWhereItStopped() {
        var cursor = RecoveryCursor()
        _ = cursor.isFresh()
        _ = cursor.isFresh()
        _ = cursor.resumed(from: 0, inRecovery: true)
        cursor.recoveryRequested()
        let first = cursor.isFresh()
        #expect(first)
        #expect(cursor.processed == 3)
    }

    @Test(arguments: [-1, 3, Int.max])
    func impossibleProgressIsAMismatch(progressive: Int) {
        var cursor = RecoveryCursor()
        _ = cursor.isFresh()
        _ = cursor.isFresh()
        let resumption = cursor.resumed(from: progressive, inRecovery: true)
        #expect(resumption == .mismatch(received: progressive, expected: 2))
    }

    @Test func outsideARecoveryProgressMustBeExact() {
        var cursor = RecoveryCursor()
        _ = cursor.isFresh()
        let first = cursor.resumed(from: 1, inRecovery: false)
        #expect(first == .resumed)
        let second = cursor.resumed(from: 0, inRecovery: false)
        #expect(second == .mismatch(received: 0, expected: 1))
    }
}
