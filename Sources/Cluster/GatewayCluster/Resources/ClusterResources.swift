internal import Changes
internal import Gateway
internal import JSONText
internal import MicroHTTPD
internal import Primitives
internal import Replication
internal import SessionPool

/// The clients and subscriptions that requests create. The log contains their specifications, from which another member
/// recreates them when this member is removed.
///
///     subscription: {"client": id, "ttl": seconds}, without the client of a pool, and without the configured time
///     client:       {"create": body, "changes": {operation: body}}, with the present options in the body that changes them
///     either:       {"caller": base64url}, if a token made the resource: the rights of the token, and the digest of the key
struct ClusterResources: Sendable {
    let cluster: ClusterNode
    let services: Services

    /// Performs an operation that changes resources. Returns its response once the change has been read from the log.
    func perform(_ call: Call, _ operation: Operation, _ begun: BegunRequest?) async throws -> OperationResult {
        // Before the change, so that no read shows it and does not wait for its records.
        let generation: Int? = cluster.reports.withLock { reports in
            reports.changing += 1
            if reports.isLeaving { return nil }
            return reports.outbox.isOpen ? reports.outbox.generation : nil
        }
        defer {
            let isAwaited = cluster.reports.withLock { reports in
                reports.changing -= 1
                return reports.awaitsChanges
            }
            if isAwaited { cluster.resourceChanged(ClusterNode.ownChanges) }
        }
        // If this member is removed meanwhile, another one may perform the request as well.
        guard let generation, begun?.generation ?? generation == generation else { throw Problem.notInContact }
        // A task of its own goes on when the client leaves: the log needs the specification.
        return try await Task.immediate {
            let result: OperationResult
            let fate = Awaited<MemberReports.Confirmation>()
            if operation.trace == .body {
                // One after the other, so that the specifications of a client are in the order of its changes.
                result = try await cluster.clientChanges.perform {
                    let result = try operation.handler(call)
                    write(result, call, operation, generation, begun, fate)
                    return result
                }
            } else {
                result = try await operation.handler(call).last
                try await claimStream(result, call)
                write(result, call, operation, generation, begun, fate)
            }
            if result.isSuccess { try await confirm(result, fate, begun) }
            return result
        }.value
    }

    /// Claims a prepared stream that a request has created, and removes the stream if its caller has reached the limit.
    private func claimStream(_ result: OperationResult, _ call: Call) async throws {
        guard let made = result.made, let (identity, limit) = call.streamLimit,
            services.streamResources.entry(made) != nil
        else { return }
        let decision = await cluster.claim(stream: made, of: identity, limit: limit)
        if decision == .accepted { return }
        discard(made)
        guard decision == .refused else { throw Problem.notInContact }
        throw StreamsResource.overLimit(limit, of: identity)
    }

    /// Waits until the log has the change. Throws if that is not certain, or `OvertakenChange` if the change took no effect.
    private func confirm(
        _ result: OperationResult,
        _ fate: Awaited<MemberReports.Confirmation>,
        _ begun: BegunRequest?
    ) async throws {
        let fate = try await fate.value
        if fate == .written { return }
        if fate == .overtaken { throw OvertakenChange() }
        // If the log has the answer or gets it later, a repeated request is answered with it, so the resource has to exist
        // until this member joins again, and finds that the log lacks it.
        if let made = result.made, begun == nil || fate != .uncertain { discard(made) }
        let detail =
            "The log of the cluster did not confirm the change; it may have been made. Read the resource before you repeat it."
        throw Problem(.unavailable, detail: detail)
    }

    /// Whether the change of a prepared stream took effect: not if another member had opened the stream before.
    private func isEffective(_ call: Call, _ operation: Operation) -> Bool {
        guard let id = call.parameters["id"], cluster.isPrepared(id) else { return true }
        return switch operation.trace {
        case .noStream: false
        case .ownedStream: cluster.holder(of: id) == .own
        case .none, .body: true
        }
    }

    /// Removes a resource whose creation is not confirmed: a repeated request creates it again. Where the creation still waits
    /// for the log, the removal follows it.
    func discard(_ id: String) {
        if services.streamResources.entry(id) != nil {
            ClusterStreams(cluster: cluster, services: services).release(id)
            return cluster.write(.stream(.remove(id: id, evenIfOpen: false)))
        }
        switch cluster.holder(of: id) {
        case .unknown, .own: release(id)
        // The log contains the resource already, and another member inherits it.
        case .process, .none: cluster.releaseResource(id)
        }
    }

    // MARK: - Specifications

    /// Writes, in one frame, the specification of the resource that a successful request has created or changed, and the
    /// response for repeated requests; the fate of the frame is known later.
    private func write(
        _ result: OperationResult,
        _ call: Call,
        _ operation: Operation,
        _ generation: Int,
        _ begun: BegunRequest?,
        _ fate: Awaited<MemberReports.Confirmation>
    ) {
        guard result.isSuccess, case .response(let response) = result else { return }
        let answer = begun.map { cluster.answer(response, to: $0.name) }
        let made = result.made
        let id = made ?? call.parameter("id")
        services.whileUnchanged(id) {
            let records = records(of: id, call, operation, with: answer)
            cluster.confirm(generation, creating: begun == nil ? nil : made, writing: records) { confirmation in
                // Before the next record of the log is applied.
                let isOvertaken = confirmation == .written && !isEffective(call, operation)
                fate.end(.success(isOvertaken ? .overtaken : confirmation))
            }
        }
    }

    private func records(
        of id: String,
        _ call: Call,
        _ operation: Operation,
        with answer: ClusterRecord?
    ) -> (inout Outbox) -> Bool {
        if let specification = specification(of: id, call, operation) {
            return { $0.specify(id, specification, with: answer) }
        }
        let streams = ClusterStreams(cluster: cluster, services: services)
        return { outbox in
            // Inside the lock of the outbox: a stream that has just expired is not written after its removal.
            if let record = services.streamResources.entry(id).flatMap({ streams.declaration(of: id, $0) }) {
                return outbox.append(request: record, with: answer)
            }
            return answer.map { outbox.append(request: $0) } ?? false
        }
    }

    /// The specification of a subscription or dedicated client of this member; nil for anything else.
    private func specification(of id: String, _ call: Call, _ operation: Operation) -> ResourceSpecification? {
        if let resource = services.pool.resource(SubscriptionID(id)), !resource.isImplicit {
            return specification(of: resource)
        }
        guard let client = services.pool.client(ClientID(id)), client.isDedicated,
            let content = content(of: client, call, operation)
        else { return nil }
        return specification(id, client.upstream, services.access.owners.owner(of: client.id), content)
    }

    private func specification(of resource: SubscriptionResource) -> ResourceSpecification {
        var content = JSONObject()
        let upstream: String?
        var group = resource.id.rawValue
        switch resource.home {
        case .pooled(let session): upstream = session.upstream
        case .dedicated(let client):
            upstream = services.pool.client(client)?.upstream
            group = client.rawValue
            content["client"] = .string(group)
        }
        if let ttl = resource.ttl, let seconds = JSONNumber("\(ttl / .seconds(1))") {
            content["ttl"] = .number(seconds)
        }
        let owner = services.access.owners.owner(of: resource.id)
        if let holder = tokenHolder(owner, of: resource.id.rawValue) { content["caller"] = holder }
        return specification(group, upstream, owner, content)
    }

    /// A specification whose content is encrypted: it may contain credentials.
    private func specification(
        _ group: String,
        _ upstream: String?,
        _ owner: String?,
        _ content: JSONObject
    ) -> ResourceSpecification {
        let content = cluster.cipher.encrypt(Array(JSONValue.object(content).text.utf8))
        return ResourceSpecification(group: group, upstream: upstream, owner: owner, content: content)
    }

    /// The owner of a resource that a token made; nil for any other: the configuration has the rights of API keys.
    private func tokenHolder(_ owner: String?, of id: String) -> JSONValue? {
        guard let owner, TokenVerifier.isIdentity(owner) else { return nil }
        return .string(Base64URL.encode(Wire.caller.stating().bytes(services.access.owners.holder(of: id))))
    }

    /// The content of the specification after a request; nil if the request changes nothing in it.
    private func content(of client: PooledClient, _ call: Call, _ operation: Operation) -> JSONObject? {
        let body = (try? JSONValue(parsing: call.body))?.object ?? JSONObject()
        if operation.placement == .creator {
            var content = JSONObject()
            content["create"] = .object(body)
            content["changes"] = .object(JSONObject())
            content["caller"] = tokenHolder(services.access.owners.owner(of: client.id), of: client.id.rawValue)
            return content
        }
        guard operation.trace == .body, var content = cluster.content(of: client.id.rawValue),
            var create = content["create"]?.object, var changes = content["changes"]?.object
        else { return nil }
        if operation.name == "patchClientOptions" {
            // The present options: all patches together could name any number of headers.
            create["options"] = nil
            changes[operation.name] = .object(ClientOptionsResource(services: services).patch(from: client))
        } else {
            // No detail is an object: the newer values and nulls count.
            var patch = changes[operation.name]?.object ?? JSONObject()
            for member in body { patch[member.name] = member.value }
            changes[operation.name] = .object(patch)
        }
        (content["create"], content["changes"]) = (.object(create), .object(changes))
        return content
    }
}

/// The change of a prepared stream that another member had opened before: that member owns the stream, and performs the change.
struct OvertakenChange: Error {}

/// Performs changes of clients one after the other.
actor ClientChanges {
    func perform(_ change: @Sendable () throws -> OperationResult) rethrows -> OperationResult { try change() }
}

extension OperationResult {
    fileprivate var isSuccess: Bool {
        if case .response(let response) = self { (200..<300).contains(response.status) } else { false }
    }

    /// The id of the resource that the request has created; nil: none.
    fileprivate var made: String? {
        guard isSuccess, case .response(let response) = self else { return nil }
        return response.headers["Location"]?.split(separator: "/").last.map(String.init)
    }
}

extension Services {
    /// Whether this process has a client, subscription or stream; not a stream that it has given up.
    func has(_ id: String) -> Bool {
        pool.resource(SubscriptionID(id)) != nil || pool.client(ClientID(id)) != nil
            || streamResources.entry(id)?.isReleased == false
    }

    /// Performs an action while no request changes a subscription or stream of this process, so that the log has what the
    /// action writes in the order of the changes.
    fileprivate func whileUnchanged(_ id: String, _ action: () -> Void) {
        if let resource = pool.resource(SubscriptionID(id)) { return resource.changes.withLock { _ in action() } }
        streamResources.whileUnchanged(id) { _ in action() }
    }
}

extension ClusterNode {
    /// The content of the specification of a resource of this member.
    func content(of id: String) -> JSONObject? {
        guard let encrypted = reports.withLock({ $0.outbox.specification(of: id) }),
            let content = cipher.decrypt(encrypted.content)
        else { return nil }
        return (try? JSONValue(parsing: content))?.object
    }
}
