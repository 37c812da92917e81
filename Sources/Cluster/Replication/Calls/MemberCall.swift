/// A message from one member to another.
package enum MemberCall: Sendable, Equatable {
    /// Perform requests of a member, and reply with their responses. The number names the call in `cancel`. A call that
    /// arrives after the removal of its member is void: the clients got another response long ago. A recipient that has not
    /// applied the log up to the position of the member may not know a resource that exists.
    case perform([ForwardedRequest], number: UInt64, member: UInt64, position: UInt64)
    /// The client of a call's requests has left: their responses are not needed.
    case cancel(UInt64)

    private enum Tag {
        static let perform: UInt8 = 1
        static let cancel: UInt8 = 2
    }

    /// The bytes that are sent.
    package var bytes: [UInt8] {
        var writer = ByteWriter.stating()
        switch self {
        case .perform(let requests, let number, let member, let position):
            writer.byte(Tag.perform)
            writer.fixed64(number)
            writer.fixed64(member)
            writer.fixed64(position)
            return writer.bytes + ForwardedRequest.encoded(requests)
        case .cancel(let number):
            writer.byte(Tag.cancel)
            writer.fixed64(number)
            return writer.bytes
        }
    }

    /// Reads a message.
    package init(_ bytes: [UInt8]) throws(CodingError) {
        var reader = try ByteReader.stating(bytes)
        let tag = try reader.byte()
        let number = try reader.fixed64()
        switch tag {
        case Tag.perform:
            let (member, position) = (try reader.fixed64(), try reader.fixed64())
            let requests = try ForwardedRequest.decoded(Array(try reader.raw(UInt64(reader.remaining))))
            self = .perform(requests, number: number, member: member, position: position)
        case Tag.cancel:
            try reader.finish()
            self = .cancel(number)
        default: throw .malformed
        }
    }
}
