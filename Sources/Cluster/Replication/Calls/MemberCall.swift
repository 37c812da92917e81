/// A message from one member to another.
package enum MemberCall: Sendable, Equatable {
    /// Perform requests of a member, and reply with their responses. The number names the call in `cancel`. A call that
    /// arrives after the removal of its member is void: the clients got another response long ago. A recipient that has not
    /// applied the log up to the position of the member may not know a resource that exists.
    case perform([ForwardedRequest], number: UInt64, member: UInt64, position: UInt64)
    /// The client of a call's requests has left: their responses are not needed.
    case cancel(UInt64)

    /// The bytes that are sent.
    package var bytes: [UInt8] { Wire<MemberCall>.call.stating().bytes(self) }

    /// Reads a message.
    package init(_ bytes: [UInt8]) throws(CodingError) { self = try Wire<MemberCall>.call.stating().value(bytes) }
}

extension Wire<MemberCall> {
    fileprivate static let call = Wire(cases: [
        Case(
            1,
            .fixed64,
            .fixed64,
            .fixed64,
            .list(.forwardedRequest).stating(),
            make: { .perform($3, number: $0, member: $1, position: $2) }
        ) {
            if case .perform(let requests, let number, let member, let position) = $0 {
                (number, member, position, requests)
            } else {
                nil
            }
        },
        Case(2, .fixed64, make: { .cancel($0) }) { if case .cancel(let number) = $0 { number } else { nil } },
    ])
}
