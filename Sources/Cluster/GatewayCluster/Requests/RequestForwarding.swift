internal import Gateway
internal import MicroHTTPD
internal import Primitives
internal import Replication

/// Requests that another member performs.
extension ClusterNode {
    /// How long a member may take to respond, in addition to the time of `Prefer: wait`.
    static let callTime = Duration.seconds(5)

    /// The response of a member to a request; nil if the member does not have the resource, or if the request has changed nothing,
    /// and the member was removed or the connection to the engine has ended. Cancellation of the task ends the wait on the
    /// member, as does the end of the time for which the token of the caller is valid, which the member does not know.
    func response(of process: UInt64, to call: Call) async throws -> Response? {
        guard let services = host?.services else { throw Problem.notInContact }
        if call.onlyReads {
            return try await services.untilExpiry(of: call.caller) { [self] in
                try await read(from: process, call, services)
            }
        }
        let left = services.access.remaining(of: call.caller).map { Int($0.components.seconds) }
        return try await change(on: process, call.waiting { min($0, left ?? $0) }, services)
    }

    /// The response of a member to a change, whose wait ends when this gateway stops.
    private func change(on process: UInt64, _ call: Call, _ services: Services) async throws -> Response? {
        let wait = PreferHeader(call.header("Prefer")).wait ?? 0
        guard wait > 0 else { return try await answer(of: process, to: call) }
        let waitEnd = Awaited<Void>()
        return try await services.ending(waitEnd, after: Self.callTime + .seconds(wait + 1)) { [self] in
            try await answer(of: process, to: call, endingWaits: waitEnd)
        }
    }

    /// The response of a member to a read. As that of a read which this gateway performs, the wait of the read ends when the gateway
    /// stops: the member is asked again without a wait.
    private func read(from process: UInt64, _ call: Call, _ services: Services) async throws -> Response? {
        let wait = PreferHeader(call.header("Prefer")).wait ?? 0
        guard wait > 0 else { return try await answer(of: process, to: call) }
        let response = try await services.untilStop(within: Self.callTime + .seconds(wait + 1)) { [self] in
            try await answer(of: process, to: call)
        }
        if let response { return response }
        return try await answer(of: process, to: call.waiting { _ in 0 })
    }

    private func answer(
        of process: UInt64,
        to call: Call,
        endingWaits waitEnd: Awaited<Void>? = nil
    ) async throws -> Response? {
        let time = Self.callTime + .seconds(PreferHeader(call.header("Prefer")).wait ?? 0)
        do {
            let responses = try await self.call(process, [call.forwarded()], within: time, endingWaits: waitEnd)
            guard let response = responses.first, response.status != Response.misdirected else { return nil }
            return response
        } catch EngineError.noResponder {
            return nil
        } catch EngineError.removed where call.onlyReads {
            return nil
        } catch EngineError.notConnected where call.onlyReads {
            // The place of the resource tells so from then on, and again when there is another connection.
            _ = await holds(until: clock() + Self.logTimeout) { machine, _ in machine.isDetached }
            try Task.checkCancellation()
            return nil
        } catch EngineError.refused(let reason) {
            try Task.checkCancellation()
            let detail = "The request cannot be forwarded to the owner of the resource: \(reason)."
            throw Problem(.unavailable, detail: detail)
        } catch {
            try Task.checkCancellation()
            let detail = "The owner of the resource did not respond. It may have performed the request."
            throw Problem(.unavailable, detail: detail)
        }
    }
}

extension Call {
    /// The headers that handlers read.
    private static let forwardedHeaders = [
        "Accept", "Content-Type", "Content-Encoding", "If-Match", "If-None-Match", "Prefer", "Idempotency-Key",
        "traceparent",
    ]

    fileprivate var onlyReads: Bool { ["GET", "HEAD"].contains(request.method) }

    /// The same request after a part of its time of `Prefer: wait`.
    func after(_ time: Duration) -> Call { waiting { max(0, $0 - Int(time.components.seconds)) } }

    /// The same request with another time of `Prefer: wait`, in seconds, if it has one.
    fileprivate func waiting(_ seconds: (Int) -> Int) -> Call {
        guard let wait = PreferHeader(header("Prefer")).wait else { return self }
        return with { request in
            request.headers.lines.removeAll { $0.name.lowercased() == "prefer" }
            request.headers.append("Prefer", "wait=\(seconds(wait))")
        }
    }

    /// The request for another member, or to read another path for a list.
    func forwarded(path: String? = nil) -> ForwardedRequest {
        if let path {
            let reading = HTTPRequest(method: "GET", rawPath: path, peer: request.peer)
            return ForwardedRequest(http: reading, requestID: requestID, caller: caller, isListing: true)
        }
        // The log has this member perform the request once.
        let names = Self.forwardedHeaders.filter { !isPerformedOnce || $0 != "Idempotency-Key" }
        var http = request
        let lines = names.flatMap { name in request.headers.values(of: name).map { HTTPField(name, $0) } }
        http.headers = HTTPFields(lines)
        return ForwardedRequest(http: http, body: body, requestID: requestID, caller: caller)
    }
}
