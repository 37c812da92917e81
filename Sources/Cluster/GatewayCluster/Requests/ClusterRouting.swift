internal import Gateway
internal import JSONText
internal import Primitives
internal import Replication

/// Requests about resources that any member may have: the owner handles them, or all members list what they have.
struct ClusterRouting: Sendable {
    /// How long a member may take to list its streams.
    private static let listTime = Duration.seconds(2)
    /// The time after which a member that has not performed a request is asked again: nothing announces that the member can be
    /// reached, or that the member serves, or has opened a stream.
    static let retryInterval = Duration.milliseconds(50)

    let cluster: ClusterNode
    let services: Services

    /// Performs a request here, or returns the response of the owner of a resource, which may change in the meantime.
    func perform(_ request: Call, _ operation: Operation, onOwnerOf id: String) async throws -> OperationResult {
        try cluster.checkServing()
        if cluster.has(id), !cluster.isPrepared(id) {
            let result = try await cluster.performHere(request, operation)
            if !result.isMisdirected { return result }
        }
        let began = cluster.clock()
        var (call, deadline) = (request, began + ClusterNode.logTimeout)
        // The epoch whose log was read up to its end.
        var read: UInt64?
        // Another member may have opened the stream just now, and owns it then.
        if cluster.isPrepared(id) { _ = await cluster.appliesEnd() }
        while !isHere(id) {
            try Task.checkCancellation()
            let (place, holder) = (cluster.place(of: id), cluster.holder(of: id))
            var response: Response?
            if case .process(let process) = holder {
                response = try await cluster.response(of: process, to: call)
                if response == nil, place != cluster.place(of: id) {
                    // Its owner was replaced, or the connection ended, possibly after the whole time of a long poll.
                    let now = cluster.clock()
                    (call, deadline) = (request.after(now - began), now + ClusterNode.logTimeout)
                }
            }
            // The member that created a stream does not have it if another one has opened it since: at the beginning of an
            // epoch, the log knows neither, and the stream may get its owner while that member is asked.
            if let response, response.status != 404 || place.isKnown && place == cluster.place(of: id) {
                return .response(response)
            }
            if !place.isKnown, response != nil || holder == .unknown {
                // Another member may have created it just now.
                if let read, read == cluster.epoch, place == cluster.place(of: id) {
                    // A member that has become alone meanwhile does not know what the cluster has.
                    if cluster.isAlone { throw Problem.notInContact }
                    break
                }
                let epoch = cluster.epoch
                read = await cluster.appliesEnd(isComplete: true) ? epoch : nil
                if read != nil { continue }
            }
            let isAskedAgain = if case .process = holder { response == nil } else { false }
            let until = isAskedAgain ? min(deadline, cluster.clock() + Self.retryInterval) : deadline
            let isChanged = await cluster.changes(of: id, since: place, until: until) { isHere(id) }
            let now = cluster.clock()
            // A wait without a change that ends before its time: this member stops.
            guard now < deadline, isChanged || now >= until else {
                try cluster.checkServing()
                throw Problem(.unavailable, detail: "No member of the cluster has the resource at the moment.")
            }
        }
        let result = try await cluster.performHere(call, operation)
        return result.isMisdirected ? try await perform(call, operation, onOwnerOf: id) : result
    }

    /// Whether this process has a resource, and no other member owns it.
    private func isHere(_ id: String) -> Bool {
        cluster.has(id) && (!cluster.isPrepared(id) || cluster.holder(of: id) == .own)
    }

    // MARK: - Lists

    /// A page of all clients or subscriptions, in the order of the log, or of the streams of one member after the other.
    func page(_ resource: Operation.ListedResource, _ call: Call, _ operation: Operation) async throws -> Response {
        try cluster.checkServing()
        let deadline = cluster.clock() + ClusterNode.logTimeout
        let refusal = Problem(.unavailable, detail: "A member of the cluster did not respond.")
        // The list includes resources that other members created just now.
        guard await cluster.appliesEnd(isComplete: true), let epoch = cluster.epoch else { throw refusal }
        let permissions = services.permissions(call)
        let ids: [String]
        switch resource {
        case .clients: ids = cluster.ids(of: \.indexedClients, permissions.sees)
        case .subscriptions: ids = cluster.ids(of: \.indexedSubscriptions, permissions.sees)
        case .streams: ids = await streamIDs(call, operation)
        }
        let page = try Page(of: ids, for: call) { $0 }
        var views: [String: [UInt8]?] = [:]
        var missing = Array(page.entries)
        while !missing.isEmpty {
            let places = Dictionary(uniqueKeysWithValues: missing.map { ($0, cluster.place(of: $0)) })
            await read(missing, at: places, operation, call, into: &views)
            // Resources without an owner are read once they have one, and not listed while they can have none.
            missing.removeAll {
                views[$0] != nil || (cluster.resourceElsewhere($0) == nil && !cluster.isPrepared($0))
                    || !cluster.canBeOwned($0)
            }
            if missing.isEmpty { break }
            let isAskedAgain = missing.contains { if case .process = cluster.holder(of: $0) { true } else { false } }
            let until = isAskedAgain ? min(deadline, cluster.clock() + Self.retryInterval) : deadline
            let isChanged = await cluster.holds(until: until) { [missing] machine, _ in
                missing.contains { LogPlace(of: $0, in: machine) != places[$0] }
            }
            let now = cluster.clock()
            guard now < deadline, isChanged || now >= until else { throw refusal }
        }
        // At the beginning of an epoch, resources are missing until the members have reported them.
        guard cluster.epoch == epoch else { throw refusal }
        return page.response(resource.rawValue) { json, id in
            if let view = views[id] ?? nil { json.raw(view) }
        }
    }

    /// The ids of the streams that the caller sees: the prepared ones, then those of each member in the order of creation.
    private func streamIDs(_ call: Call, _ operation: Operation) async -> [String] {
        // Prepared streams are listed also while their owner is being replaced.
        let permissions = services.permissions(call)
        var ids = cluster.preparedStreamIDs { permissions.sees(streamOf: $0) }
        // A stream that another member opens just now is on both.
        var known = Set(ids)
        let request = call.forwarded(path: operation.pattern.description)
        let calls = cluster.processes.map { (process: $0, requests: [request]) }
        for case let response? in await responses(to: calls, within: Self.listTime).map(\.first)
        where response.status == 200 {
            let listed = String(decoding: response.bytes, as: UTF8.self).split(separator: "\n").map(String.init)
            ids += listed.filter { known.insert($0).inserted }
        }
        return ids
    }

    /// The responses of several members, called at the same time, in the order of the calls; empty for a failed call: what
    /// a removed member had is not listed, or is read from its next owner.
    private func responses(
        to calls: [(process: UInt64, requests: [ForwardedRequest])],
        within time: Duration
    ) async -> [[Response]] {
        await withTaskGroup(of: (Int, [Response]).self) { group in
            for (index, call) in calls.enumerated() {
                group.addTask {
                    if call.process == cluster.process {
                        return (index, await cluster.host?.serve(call.requests, for: cluster) ?? [])
                    }
                    return (index, (try? await cluster.call(call.process, call.requests, within: time)) ?? [])
                }
            }
            var responses: [[Response]] = Array(repeating: [], count: calls.count)
            for await (index, response) in group { responses[index] = response }
            return responses
        }
    }

    /// Reads the JSON forms of resources from the members that have them; nil for those that the caller does not see. A resource
    /// that has another place meanwhile is missing where it was.
    private func read(
        _ ids: [String],
        at places: [String: LogPlace],
        _ operation: Operation,
        _ call: Call,
        into views: inout [String: [UInt8]?]
    ) async {
        var groups: [UInt64: [String]] = [:]
        for id in ids {
            if cluster.holder(of: id) == .own || services.has(id) && !cluster.isPrepared(id) {
                groups[cluster.process, default: []].append(id)
            } else if case .process(let process) = cluster.holder(of: id) {
                groups[process, default: []].append(id)
            }
        }
        let calls = groups.map { process, ids in
            (process: process, requests: ids.map { call.forwarded(path: "\(operation.pattern.description)/\($0)") })
        }
        let responses = await responses(to: calls, within: ClusterNode.callTime)
        for (ids, responses) in zip(groups.values, responses) {
            for (id, response) in zip(ids, responses) {
                switch response.status {
                case 200: views[id] = .some(response.bytes)
                case 404 where cluster.place(of: id) == places[id]: views[id] = .some(nil)
                default: break
                }
            }
        }
    }
}

/// The places of resources.
extension ClusterNode {
    /// The member that has a client, subscription or stream; for a stream that is not in the log, its opener.
    func holder(of id: String) -> ResourceHolder {
        let holder = state.withLock { $0.machine.holder(of: id) }
        guard holder == .unknown, let opener = processes.first(where: { id.hasPrefix(Self.streamPrefix(of: $0)) }),
            opener != process
        else { return holder }
        return .process(opener)
    }

    /// Whether this process has a client, subscription or stream, and is not recreating it.
    func has(_ id: String) -> Bool {
        host?.services.has(id) == true && !shared.withLock { $0.recreated.contains(id) }
    }

    /// Whether a member can own a client, subscription or stream.
    func canBeOwned(_ id: String) -> Bool { state.withLock { $0.machine.ledger?.canBeOwned(id) ?? true } }
}
