internal import NIOCore
internal import NIOPosix
internal import Testing

@testable internal import TLCPTransports

@Suite struct EventLoopsTests {
    /// The threads that a part gets in some turns.
    private func threads(_ loops: EventLoops, part: Int, of parts: Int) -> Set<ObjectIdentifier> {
        Set((0..<8).map { ObjectIdentifier(loops.one(ofPart: part, among: parts, turn: $0).next()) })
    }

    @Test(arguments: [(1, 1), (2, 1), (3, 1), (4, 2), (5, 2)])
    func aPartHasHalfOfTheThreads(count: Int, expected: Int) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: count)
        let loops = EventLoops(group)
        #expect(loops.count == count)
        let (first, second) = (threads(loops, part: 0, of: 2), threads(loops, part: 1, of: 2))
        #expect(first.count == expected && second.count == expected)
        if count > 1 { #expect(first.isDisjoint(with: second)) }
        #expect(threads(loops, part: 0, of: 1).count == count)
        try await group.shutdownGracefully()
    }

    /// Upstreams with one session each do not delay one another while there is a thread for each of them.
    @Test(arguments: 2...9) func theFirstTurnsOfPartsAreOnDifferentThreads(count: Int) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: count)
        let loops = EventLoops(group)
        let first = (0..<count).map { ObjectIdentifier(loops.one(ofPart: $0, among: count, turn: 0).next()) }
        #expect(Set(first).count == count)
        try await group.shutdownGracefully()
    }

    @Test func eachThreadComesRound() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 3)
        let (rounds, source) = AsyncStream.makeStream(of: Int.self)
        EventLoops(group).onEach { source.yield($0) }
        var seen: Set<Int> = []
        for await index in rounds {
            seen.insert(index)
            if seen.count == 3 { break }
        }
        #expect(seen == [0, 1, 2])
        try await group.shutdownGracefully()
    }
}
