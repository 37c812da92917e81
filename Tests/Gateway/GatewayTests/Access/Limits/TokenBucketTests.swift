import SessionCore
import Testing

@testable import Gateway

@Suite struct TokenBucketTests {
    private func moment(_ seconds: Double) -> Moment { .zero + .seconds(seconds) }

    @Test func aBurstPassesAndThenTheRate() {
        var bucket = TokenBucket(rate: 2, burst: 3, now: .zero)
        #expect((0..<5).map { _ in bucket.take(now: .zero).isAdmitted } == [true, true, true, false, false])
        #expect(bucket.take(now: .zero).wait == .seconds(0.5))
        #expect(!bucket.take(now: moment(0.4)).isAdmitted)
        #expect(bucket.take(now: moment(0.5)).isAdmitted)
        #expect(!bucket.take(now: moment(0.5)).isAdmitted)
        #expect(bucket.take(now: moment(100)) == .init(isAdmitted: true, remaining: 2, wait: .seconds(0.5)))
    }

    @Test func timeThatGoesBackAddsNoTokens() {
        var bucket = TokenBucket(rate: 1, burst: 1, now: moment(10))
        #expect(bucket.take(now: moment(10)).isAdmitted)
        #expect(!bucket.take(now: moment(5)).isAdmitted)
        #expect(!bucket.take(now: moment(10.5)).isAdmitted)
    }

    @Test func anotherRateDoesNotForget() {
        var bucket = TokenBucket(rate: 1, burst: 2, now: .zero)
        _ = bucket.take(now: .zero)
        _ = bucket.take(now: .zero)
        bucket.change(rate: 1, burst: 1_000, now: .zero)
        #expect(!bucket.take(now: .zero).isAdmitted)
    }
}

@Suite struct TokenBucketsTests {
    @Test func namesAreCountedApart() {
        let table = TokenBuckets()
        #expect(table.take("a", rate: 1, burst: 1, now: .zero).isAdmitted)
        #expect(!table.take("a", rate: 1, burst: 1, now: .zero).isAdmitted)
        #expect(table.take("b", rate: 1, burst: 1, now: .zero).isAdmitted)
    }

    @Test func inventedNamesShareWhatIsLeft() {
        let table = TokenBuckets(maxBuckets: 3)
        let admitted = (0..<100).count { table.take("n\($0)", rate: 1, burst: 2, now: .zero).isAdmitted }
        #expect(admitted == 3 + 2)
        #expect(table.count == 3)
    }

    @Test func fullBucketsAreRemoved() {
        let table = TokenBuckets(maxBuckets: 2)
        _ = table.take("a", rate: 1, burst: 1, now: .zero)
        _ = table.take("b", rate: 1, burst: 1, now: .zero + .seconds(0.5))
        _ = table.take("c", rate: 1, burst: 1, now: .zero + .seconds(1))
        #expect(table.count == 2)
        #expect(!table.take("b", rate: 1, burst: 1, now: .zero + .seconds(1)).isAdmitted)
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("2001:db8:1:2:3:4:5:6", "20010db800010002/64"),
        ("2001:db8:1:2:ffff::1", "20010db800010002/64"), ("2001:db8:1:3::1", "20010db800010003/64"), ("", ""),
        ("a:b", "a:b"),
    ])
    func addressesOfOneNetworkAreOneName(address: String, name: String) {
        #expect(IPNetwork.subscriber(of: address) == name)
    }
}
