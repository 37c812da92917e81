internal import CNATS

// The callbacks of the library, called on its threads. Each turns the context into its connection and calls one method.
// A message belongs to its callback, which destroys it.

private func connection(_ context: UnsafeMutableRawPointer?) -> NATSConnection? {
    context.map { Unmanaged<NATSConnection>.fromOpaque($0).takeUnretainedValue() }
}

/// A frame of the log.
func natsFrameArrived(
    _: OpaquePointer?,
    _: OpaquePointer?,
    message: OpaquePointer?,
    context: UnsafeMutableRawPointer?
) {
    if let message { connection(context)?.frameArrived(message) }
    natsMsg_Destroy(message)
}

/// A reply to a request of this process.
func natsReplied(
    _: OpaquePointer?,
    _: OpaquePointer?,
    message: OpaquePointer?,
    context: UnsafeMutableRawPointer?
) {
    if let message { connection(context)?.replied(message) }
    natsMsg_Destroy(message)
}

/// A heartbeat of a member.
func natsBroadcastArrived(
    _: OpaquePointer?,
    _: OpaquePointer?,
    message: OpaquePointer?,
    context: UnsafeMutableRawPointer?
) {
    if let message { connection(context)?.broadcastArrived(message) }
    natsMsg_Destroy(message)
}

/// A request to all members.
func natsGroupRequestArrived(
    _: OpaquePointer?,
    _: OpaquePointer?,
    message: OpaquePointer?,
    context: UnsafeMutableRawPointer?
) {
    if let message { connection(context)?.groupRequestArrived(message) }
    natsMsg_Destroy(message)
}

/// A message to this process.
func natsCallArrived(
    _: OpaquePointer?,
    _: OpaquePointer?,
    message: OpaquePointer?,
    context: UnsafeMutableRawPointer?
) {
    if let message { connection(context)?.callArrived(message) }
    natsMsg_Destroy(message)
}

/// The last message of a subscription was delivered: releases the reference of `subscribe`.
func natsCompleted(context: UnsafeMutableRawPointer?) {
    if let context { Unmanaged<NATSConnection>.fromOpaque(context).release() }
}

/// The connection is closed: releases the reference of `open`.
func natsClosed(_: OpaquePointer?, context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    Unmanaged<NATSConnection>.fromOpaque(context).takeRetainedValue().closed()
}
