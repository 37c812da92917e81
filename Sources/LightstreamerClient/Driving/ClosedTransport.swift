internal import TLCPTransports

/// Stands for a connection that could not even be tried.
final class ClosedTransport: Transport {
    let traits = TransportTraits(isMultiplexed: false, isStreaming: false)

    func send(_ message: [UInt8]) {}
    func handled(_ byteCount: Int) {}
    func close() {}
    func release() {}
}
