// The product's path from a published event to a socket: hub, streams, HTTP server. Events are published here, at a
// rate.
//
//     HubServer --rate EVENTS_PER_SECOND --topics N --items N --burst N --threads N --filled 0|1
//               [--certificate PATH --key PATH]
//
// `GET /stream/7` carries topic 7, `GET /stream/0-9` ten of them; `GET /bytes/N` has a body of N bytes. The first line of output is the port.

internal import EventHub
internal import FoundationEssentials
internal import GatewayStreaming
internal import Glibc
internal import MicroHTTPD
internal import SessionCore

/// The content of a text file.
func text(of path: String) throws -> String {
    try String(contentsOfFile: path, encoding: .utf8)
}

let options = ServerOptions(CommandLine.arguments.dropFirst())
let hub = EventHub(epoch: "bench") { Moment.monotonic() }
let streams = StreamRegistry(hub: hub)
var publisher = Publisher(hub: hub, options: options)
var configuration = DaemonConfiguration()
configuration.connectionLimit = 60_000
configuration.shards = options.threads
if let certificate = options.certificate, let key = options.key {
    configuration.certificate = DaemonConfiguration.Certificate(
        chain: try text(of: certificate),
        key: try text(of: key)
    )
}
let daemon = Daemon(configuration: configuration, handler: StreamHandler(streams: streams)) { loop in
    streams.makeFeed(for: loop)
}
if options.isFilled { publisher.fill() }
do {
    print("port \(try daemon.start())")
    fflush(nil)
    publisher.run()
} catch {
    print("cannot listen: \(error)")
    exit(1)
}
