internal import Testing

@testable internal import MicroHTTPD

@Suite struct StreamBatchTests {
    @Test func neighbouringRangesOfOneOwnerBecomeOnePiece() {
        var batch = StreamBatch(byteLimit: 100, pieceLimit: 4)
        let bytes = SharedBytes(0..<50)
        batch.append(bytes, 0..<10)
        batch.append(bytes, 10..<30)
        batch.append(bytes, 40..<50)
        batch.append(bytes, 20..<20)
        let sizes = batch.pieces.map(\.bytes.count)
        #expect(sizes == [30, 10])
        let left = (bytes: batch.remainingBytes, pieces: batch.remainingPieces, isFull: batch.isFull)
        #expect(left == (60, 2, false))
    }

    @Test func limitsAreAWishNotALaw() {
        var batch = StreamBatch(byteLimit: 10, pieceLimit: 2)
        batch.append(SharedBytes(0..<8))
        let wasFull = batch.isFull
        batch.append(SharedBytes(0..<8))
        let isFull = batch.isFull
        batch.append(SharedBytes(0..<8))
        #expect([wasFull, isFull] == [false, true])
        let numbers = [batch.byteCount, batch.remainingBytes, batch.remainingPieces]
        #expect(numbers == [24, 0, 0])
    }

    @Test func removedPiecesLetTheirOwnersGo() {
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

    @Test func chunksAreFramed() {
        #expect(ChunkFraming.chunk(Array("hello world, hello".utf8)) == Array("12\r\nhello world, hello\r\n".utf8))
        #expect(ChunkFraming.chunk([]) == [])
    }
}
