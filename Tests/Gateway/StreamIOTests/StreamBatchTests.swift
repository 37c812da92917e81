internal import StreamIO
internal import Testing

@Suite struct StreamBatchTests {
    /// A part of the bytes.
    private func part(_ shared: SharedBytes, _ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: shared.bytes[range])
    }

    @Test func neighbouringRangesOfOneOwnerBecomeOnePiece() {
        var batch = StreamBatch(byteLimit: 100, pieceLimit: 4)
        let bytes = SharedBytes(0..<50)
        for range in [0..<10, 10..<30, 40..<50, 20..<20] { batch.append(part(bytes, range), owner: bytes) }
        let sizes = batch.pieces.map(\.bytes.count)
        #expect(sizes == [30, 10])
        let left = (bytes: batch.remainingBytes, isFull: batch.isFull)
        #expect(left == (60, false))
    }

    @Test func anEventMayExceedTheLimits() {
        var batch = StreamBatch(byteLimit: 10, pieceLimit: 2)
        batch.append(SharedBytes(0..<8))
        let wasFull = batch.isFull
        batch.append(SharedBytes(0..<8))
        let isFull = batch.isFull
        batch.append(SharedBytes(0..<8))
        #expect([wasFull, isFull] == [false, true])
        let numbers = [batch.byteCount, batch.remainingBytes, batch.pieces.count]
        #expect(numbers == [24, 0, 3])
    }

    @Test func removedPiecesReleaseTheirOwners() {
        var batch = StreamBatch(byteLimit: 10, pieceLimit: 2)
        weak var leaving: SharedBytes?
        do {
            let bytes = SharedBytes(0..<8)
            leaving = bytes
            batch.append(bytes)
        }
        #expect(leaving != nil)
        batch.removeAll()
        #expect(leaving == nil)
    }
}
