internal import Changes
internal import Primitives
internal import SessionCore
internal import Testing

@testable import SessionPool

@Suite struct PoolTablesTests {
    private static let key = SharedKey.demo()

    private func resource(_ id: String, isImplicit: Bool) -> SubscriptionResource {
        SubscriptionResource(
            id: SubscriptionID(id),
            home: .pooled(Self.key.session),
            isImplicit: isImplicit,
            ordinal: 1,
            properties: Self.key.properties
        )
    }

    @Test func implicitResourceIsFoundUntilItIsWithdrawnWithoutReaders() {
        var table = ResourceTable()
        let resource = resource("s1", isImplicit: true)
        table.insert(resource)
        let areFirst = [table.addReader(of: resource), table.addReader(of: resource)]
        #expect(areFirst == [true, false] && table.implicit[Self.key] === resource)
        let isLeft = table.removeReader(of: resource)
        let isWithdrawn = table.withdraw(resource)
        #expect(!isLeft && !isWithdrawn && table.implicit[Self.key] === resource)
        let isLast = table.removeReader(of: resource)
        let isWithdrawnAtTheEnd = table.withdraw(resource)
        #expect(isLast && isWithdrawnAtTheEnd && table.implicit.isEmpty && table.byID.count == 1)
    }

    @Test func removedResourceLeavesAnotherOneOfEqualProperties() {
        var table = ResourceTable()
        let (former, present) = (resource("s1", isImplicit: true), resource("s2", isImplicit: true))
        table.insert(former)
        table.addReader(of: former)
        table.insert(present)
        table.remove(former)
        #expect(table.implicit[Self.key] === present && table.byID.keys.map(\.rawValue) == ["s2"])
        let isFirst = table.addReader(of: former)
        #expect(isFirst)
    }

    @Test func createdResourceIsNotShared() {
        var table = ResourceTable()
        let resource = resource("s1", isImplicit: false)
        table.insert(resource)
        let isWithdrawn = table.withdraw(resource)
        #expect(!isWithdrawn && table.implicit.isEmpty && table.nextOrdinal == 2)
    }

    @Test func unservedResourcesAreTakenOnce() {
        var table = ResourceTable()
        table.keepUnserved(resource("s1", isImplicit: false))
        let (taken, again) = (table.takeUnserved(), table.takeUnserved())
        #expect(taken.map(\.id) == [SubscriptionID("s1")] && again.isEmpty && table.unserved.isEmpty)
    }

    @Test func subscriptionsAreLookedAtOnceASecond() {
        var check = ExpiryCheck()
        let due = [0, 1, 999, 1_000, 1_001, 2_500].map { check.isDue(at: .zero + .milliseconds($0)) }
        #expect(due == [true, false, false, true, false, true])
    }
}
