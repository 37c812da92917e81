internal import Changes
internal import JSONText
internal import SessionCore
internal import TestSupport

@testable internal import EventHub

/// More values of one input test nothing new.
private let maxValues = 8

/// Updates with any names and values are read back from server-sent events and from lines of JSON.
///
///     input = mode, item NUL field NUL value NUL value …
@Sendable func fuzzEvents(_ input: ArraySlice<UInt8>) {
    guard let first = input.first else { return }
    let texts = parts(of: input.dropFirst()).map { String(decoding: $0, as: UTF8.self) }
    guard texts.count >= 3 else { return }
    let fields = [texts[1], "key", "command"]
    let mode = SubscriptionMode.allCases[Int(first) % SubscriptionMode.allCases.count]
    let properties = SubscriptionProperties(mode: mode, items: .list([texts[0]]), fields: .list(fields))
    let layout = SubscriptionLayout(
        itemNames: [texts[0]],
        fieldNames: fields,
        fieldCount: 3,
        keyPosition: mode == .command ? 2 : nil,
        commandPosition: mode == .command ? 3 : nil
    )
    let context = TopicContext(subscription: "s", client: "c", properties: properties)
    var encoder = EventEncoder(epoch: "e")
    for (index, value) in texts.dropFirst(2).prefix(maxValues).enumerated() {
        let values = [value, value, "ADD"]
        let update = ItemUpdate(
            layout: layout,
            itemPos: 1,
            isSnapshot: false,
            values: values,
            changed: FieldSet(all: 3)
        )
        // One variant for each value: all of them for each would test little more and take many times longer.
        let variant = EventVariant.all[(Int(first) + index) % EventVariant.all.count]
        encoder.encode(.subscription(.update(update)), sequence: 7, of: context, as: variant)
        let data = data(of: encoder.json.bytes, variant.format)
        precondition(data["item"] == .string(texts[0]), "item differs")
        let written = data["fields"]?.object?.first?.value
        precondition(written == .string(value), "value differs")
    }
}

private func data(of bytes: [UInt8], _ format: EventFormat) -> JSONValue {
    switch format {
    case .serverSentEvents:
        var parser = EventStreamParser()
        let events = parser.feed(bytes)
        precondition(events.count == 1 && events[0].name == "update" && events[0].id == "e-7", "event differs")
        guard let value = try? JSONValue(parsing: events[0].data) else { preconditionFailure("data is not JSON") }
        return value
    case .ndjson:
        precondition(bytes.last == 0x0A && !bytes.dropLast().contains(0x0A), "event is not one line")
        guard let value = try? JSONValue(parsing: bytes), let data = value["data"] else {
            preconditionFailure("line is not JSON")
        }
        return data
    }
}
