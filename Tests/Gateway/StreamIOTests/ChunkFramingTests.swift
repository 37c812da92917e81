internal import StreamIO
internal import Testing

@Suite struct ChunkFramingTests {
    /// The bytes that framing writes, and the payload that it reports in them.
    private func write(_ payload: [UInt8]) -> (chunk: [UInt8], payload: [UInt8]) {
        let memory = UnsafeMutableRawBufferPointer.allocate(
            byteCount: payload.count + ChunkFraming.overhead,
            alignment: 1
        )
        defer { memory.deallocate() }
        guard let start = memory.baseAddress else { return ([], []) }
        let written = ChunkFraming.write(payload, to: start)
        return (Array(memory[written.chunk]), Array(memory[written.payload]))
    }

    @Test func aChunkIsItsLengthInHexadecimalAndItsBytes() {
        #expect(write(Array("hello world, hello".utf8)).chunk == Array("12\r\nhello world, hello\r\n".utf8))
    }

    @Test(arguments: [1, 9, 10, 15, 16, 255, 256, 4095, 4096, 65_535, 65_536, 1_048_576])
    func theLengthIsWrittenWithoutLeadingZeros(count: Int) {
        let payload = [UInt8](repeating: 7, count: count)
        let written = write(payload)
        #expect(written.payload == payload)
        #expect(written.chunk == Array("\(String(count, radix: 16))\r\n".utf8) + payload + [0x0D, 0x0A])
        #expect(ChunkFraming.chunk(of: payload) == written.chunk)
    }
}
