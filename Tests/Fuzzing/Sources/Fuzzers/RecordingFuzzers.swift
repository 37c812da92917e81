@testable internal import Recording

/// A file is read or refused; events of a block with arbitrary columns are written to a file that has the same events.
///
///     input = kind, file, or content of a segment, or number of fields, columns of a block
@Sendable func fuzzRecordings(_ input: ArraySlice<UInt8>) {
    guard let kind = input.first else { return }
    let bytes = Array(input.dropFirst())
    switch kind {
    case 0: _ = read(Frame.fileHeader + bytes)
    case 1: fuzzSegment(bytes)
    case 2: _ = try? Frame.columns(bytes)
    default: fuzzBlock(bytes, fieldCount: Int(kind) % 12 + 1)
    }
}

private func fuzzSegment(_ content: [UInt8]) {
    guard let segment = try? Frame.segment(content) else { return }
    let again = try? Frame.segment(Frame.content(of: segment))
    precondition(again == segment, "a written segment differs")
}

private func fuzzBlock(_ columns: [UInt8], fieldCount: Int) {
    let fields = (0..<fieldCount).map { "f\($0)" }
    let segment = RecordedSegment(start: 0, mode: "COMMAND", items: ["a", "b", "c"], fields: fields)
    guard let events = try? events(of: columns[...], in: segment) else { return }
    var encoder = RecordingEncoder(segment)
    for event in events { encoder.append(event) }
    let block = encoder.takeBlock().map { $0.frame() ?? [] } ?? []
    let file = RecordingEncoder.fileHeader + (RecordingEncoder.frame(of: segment) ?? []) + block
    let again = read(file).flatMap { part in
        if case .events(let events) = part { events } else { [RecordedEvent]() }
    }
    precondition(again == events, "a written block differs")
}

private func events(of block: ArraySlice<UInt8>, in segment: RecordedSegment) throws -> [RecordedEvent] {
    var decoder = BlockDecoder(segment)
    try decoder.begin(block)
    var events: [RecordedEvent] = []
    while let next = try decoder.next() { events += next }
    return events
}

/// The parts of a file up to its end or its first violation.
private func read(_ file: [UInt8]) -> [RecordingReader.Part] {
    var reader = RecordingReader { offset, count in
        Array(file[min(offset, file.count)..<min(offset + count, file.count)])
    }
    var parts: [RecordingReader.Part] = []
    while let part = try? reader.next() { parts.append(part) }
    return parts
}
