internal import EventHub
package import MicroHTTPD

/// What goes into a batch goes out with the next system call.
extension StreamBatch: ByteSink {}
