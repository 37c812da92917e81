// Runs each stage of the path of an update alone, on lines of a quote feed, and prints one line of JSON for each:
// nanoseconds of CPU time and allocations for a line, and megabytes of TLCP for a second of CPU time.

internal import AllocationCounter
internal import EventHub
internal import Glibc
internal import SessionCore
internal import StreamIO
internal import TLCP

/// The CPU time of the process in nanoseconds.
func cpuTime() -> Double {
    var reading = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &reading)
    return Double(reading.tv_sec) * 1e9 + Double(reading.tv_nsec)
}

/// Repeats a stage that works on all lines, and prints its figures.
func measure(_ stage: String, _ lines: QuoteLines, rounds: Int, _ body: () throws -> Void) rethrows {
    try body()
    let (time, allocations) = (cpuTime(), allocations_so_far())
    for _ in 0..<rounds { try body() }
    let count = Double(rounds * lines.updates.count)
    let perLine = (cpuTime() - time) / count
    let speed = Double(lines.bytes.count) / Double(lines.updates.count) / perLine * 1e3
    let allocated = Double(allocations_so_far() - allocations) / count
    print(
        "{\"stage\": \"\(stage)\", \"nanoseconds\": \(perLine), \"megabytes\": \(speed), \"allocations\": \(allocated)}"
    )
}

let rounds = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 100
let lines = QuoteLines(count: 3000)
let slices = lines.updates.map { $0.dropLast(2) }

// As large as the reads of a WebSocket.
let chunkSize = 16 * 1024
try measure("splitter", lines, rounds: rounds) {
    var splitter = LineSplitter()
    var start = 0
    while start < lines.bytes.count {
        let end = min(start + chunkSize, lines.bytes.count)
        _ = try splitter.feed(lines.bytes[start..<end])
        start = end
    }
}

try measure("parser", lines, rounds: rounds) {
    for line in slices { _ = try ServerNotification(parsing: line) }
}

let session = StreamingSession()
session.receive(lines.snapshot.map { $0[...] })
measure("session", lines, rounds: rounds) {
    for start in stride(from: 0, to: slices.count, by: 400) {
        session.receive(Array(slices[start..<min(start + 400, slices.count)]))
    }
}

let events = session.events(of: slices)
var table = ValueTable(properties: StreamingSession.properties)
measure("table", lines, rounds: rounds) {
    for event in events { table.apply(event) }
}

var silent = PublishedTopic(readers: 0)
measure("hub without readers", lines, rounds: rounds) { silent.publish(events) }

var read = PublishedTopic(readers: 1)
measure("hub with encoding", lines, rounds: rounds) { read.publish(events) }

var late = PublishedTopic(readers: 1, isLate: true)
measure("hub with conflation", lines, rounds: rounds) { late.publish(events) }
