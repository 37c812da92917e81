internal import TLCP
internal import Testing

@testable internal import SessionCore

@Suite struct ControlChannelTests {
    private let delay = Duration.seconds(4)
    private let connection = ConnectionID(1)

    @Test func answeredRequestFreesTheChannel() {
        var channel = ControlChannel()
        channel.sent(on: connection, ids: 1..<2, isHeartbeat: false, at: .zero)
        #expect(!channel.isIdle && channel.connection == connection)
        channel.answerReceived(to: RequestID(1))
        let first = channel.ended(isComplete: true, retryDelay: delay, at: .zero)
        #expect(first == nil)
        #expect(channel.isIdle)
    }

    @Test func responseWithoutReplyIsPunishedByAPause() {
        var channel = ControlChannel()
        channel.sent(on: connection, ids: 1..<2, isHeartbeat: false, at: .zero)
        let now = Moment.zero + .seconds(1)
        let first = channel.ended(isComplete: true, retryDelay: delay, at: now)
        #expect(first == .seconds(3))
        #expect(!channel.isIdle && channel.connection == nil)
        channel.pauseEnded()
        #expect(channel.isIdle)
    }

    @Test func secondResponseWithRepliesToOtherRequestsIsFollowedByAPause() {
        var channel = ControlChannel()
        for (id, pause) in [(99, nil), (99, delay), (1, nil), (99, nil)] as [(Int, Duration?)] {
            channel.sent(on: connection, ids: 1..<2, isHeartbeat: false, at: .zero)
            channel.answerReceived(to: RequestID(id))
            let next = channel.ended(isComplete: true, retryDelay: delay, at: .zero)
            #expect(next == pause)
            channel.pauseEnded()
        }
    }

    @Test func failedRequestIsFollowedByTheRestOfTheDelay() {
        var channel = ControlChannel()
        channel.sent(on: connection, ids: 1..<2, isHeartbeat: false, at: .zero)
        channel.answerReceived(to: RequestID(1))
        let first = channel.ended(isComplete: false, retryDelay: delay, at: .zero + .seconds(9))
        #expect(first == .zero)
    }

    @Test func heartbeatNeedsNoReply() {
        var channel = ControlChannel()
        channel.heartbeatDue()
        #expect(channel.isHeartbeatDue)
        channel.sent(on: connection, ids: 2..<2, isHeartbeat: true, at: .zero)
        #expect(!channel.isHeartbeatDue)
        let first = channel.ended(isComplete: true, retryDelay: delay, at: .zero)
        #expect(first == nil)
    }

    @Test func leavingReportsWhatToClose() {
        var channel = ControlChannel()
        let first = channel.left()
        #expect(first == nil)
        channel.sent(on: connection, ids: 1..<2, isHeartbeat: false, at: .zero)
        let second = channel.left()
        #expect(second == connection)
        #expect(channel.isIdle)
        let third = channel.ended(isComplete: true, retryDelay: delay, at: .zero)
        #expect(third == nil)
    }
}
