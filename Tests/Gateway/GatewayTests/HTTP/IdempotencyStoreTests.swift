import SessionCore
import Testing

@testable import Gateway

@Suite struct IdempotencyStoreTests {
    private let key = IdempotencyStore.Key(caller: nil, path: "/v1/clients", key: "k")

    private func moment(_ seconds: Int64) -> Moment { Moment(nanoseconds: seconds * 1_000_000_000) }

    private func word(_ verdict: IdempotencyStore.Decision) -> String {
        switch verdict {
        case .perform: "perform"
        case .replay(let response): "replay \(response.status)"
        case .inProgress: "inProgress"
        case .otherRequest: "otherRequest"
        }
    }

    @Test func aRepeatedRequestGetsTheFirstAnswer() {
        let store = IdempotencyStore()
        #expect(word(store.begin(key, body: [1], now: .zero)) == "perform")
        #expect(word(store.begin(key, body: [1], now: .zero)) == "inProgress")
        store.finished(key, with: Response(status: 201))
        #expect(word(store.begin(key, body: [1], now: .zero)) == "replay 201")
        #expect(word(store.begin(key, body: [2], now: .zero)) == "otherRequest")
    }

    @Test func aFailureOfTheGatewayIsNotKept() {
        let store = IdempotencyStore()
        _ = store.begin(key, body: [1], now: .zero)
        store.finished(key, with: Response(status: 503))
        #expect(word(store.begin(key, body: [2], now: .zero)) == "perform")
    }

    @Test func longPathsCountTowardsTheBytes() {
        let store = IdempotencyStore(lifetime: .seconds(10), maxEntries: 1_000, maxBytes: 64 * 1024)
        let path = String(repeating: "p", count: 16 * 1024)
        for number in 0..<10 {
            _ = store.begin(.init(caller: nil, path: path, key: "\(number)"), body: [], now: .zero)
        }
        #expect(word(store.begin(.init(caller: nil, path: path, key: "0"), body: [], now: .zero)) == "perform")
        #expect(word(store.begin(.init(caller: nil, path: path, key: "9"), body: [], now: .zero)) == "inProgress")
    }

    @Test func oldAnswersAreForgottenByTimeAndByNumber() {
        let store = IdempotencyStore(lifetime: .seconds(10), maxEntries: 2, maxBytes: 1 << 20)
        _ = store.begin(key, body: [], now: .zero)
        store.finished(key, with: Response(status: 201))
        #expect(word(store.begin(key, body: [], now: moment(11))) == "perform")
        for number in 0..<5 {
            _ = store.begin(.init(caller: nil, path: "/", key: "\(number)"), body: [], now: moment(12))
        }
        #expect(word(store.begin(key, body: [9], now: moment(12))) == "perform")
    }
}
