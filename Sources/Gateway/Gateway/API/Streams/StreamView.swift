internal import Changes
internal import EventHub
internal import GatewayStreaming
internal import JSONText
internal import SessionCore

struct StreamView {
    let id: String
    let entry: StreamResources.Entry?
    /// The state of the stream while it is open.
    let listing: StreamListing?
    /// The time that its age refers to.
    let now: Moment
    /// The hub with the states of its sources, also of those that another gateway carries.
    let hub: EventHub

    func write(to json: inout JSONBytes) {
        let figures = listing?.summary.figures
        json.beginObject()
        writeSettings(request, to: &json)
        json.member("peer", listing?.owner.peer)
        let since = listing?.summary.openedAt ?? entry?.madeAt ?? now
        json.member("age", (now - since).roundedSeconds)
        json.member("lag", figures?.lag ?? 0)
        json.member("delivered", figures?.delivered ?? 0)
        json.member("conflated", figures?.conflated.count ?? 0)
        json.member("dropped", figures?.dropped.count ?? 0)
        json.endObject()
    }

    /// The tag of the stream: over its settings and its sources with their states, without its counters.
    var tag: EntityTag {
        var json = JSONBytes()
        json.beginObject()
        writeSettings(request, to: &json)
        json.endObject()
        return EntityTag(of: json.bytes)
    }

    private var request: StreamRequest { listing?.summary.request ?? entry?.prepared ?? StreamRequest(sources: []) }

    private func writeSettings(_ request: StreamRequest, to json: inout JSONBytes) {
        json.member("id", id)
        json.member("url", entry?.prepared == nil ? nil : "/v1/streams/\(id)/events")
        json.member("open", listing != nil)
        json.array("sources", of: request.sources) { hub.write($1, to: &$0) }
        json.member("format", listing.map { $0.summary.request.format == .ndjson ? "ndjson" : "sse" })
        json.member("conflate", request.conflates)
        json.member("maxFrequency", request.maxFrequency)
        json.member("fieldsSent", request.sendsAllFields ? "all" : "changed")
        json.member("legacy", request.includesLegacy)
    }
}
