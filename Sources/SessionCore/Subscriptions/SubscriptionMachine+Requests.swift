internal import TLCP

extension SubscriptionMachine {
    /// The request that is due. Nil: none is any more.
    func pendingRequest(_ id: RequestID, acknowledged: Bool) -> ControlRequest? {
        guard stage.request == .due, let operation = pendingOperation(acknowledged: acknowledged) else { return nil }
        return ControlRequest(requestID: id, operation: operation)
    }

    private func pendingOperation(acknowledged: Bool) -> ControlOperation? {
        switch stage {
        case .adding:
            guard let properties else { return nil }
            var request = AddRequest(
                subscriptionID: self.id,
                mode: WireMode(properties.mode),
                group: properties.items.wireName,
                schema: properties.fields.wireName
            )
            request.dataAdapter = properties.dataAdapter
            request.selector = properties.selector
            request.snapshot = properties.requestedSnapshot.map(AddRequest.Snapshot.init)
            request.maxFrequency = frequency.current.map(RequestedFrequency.init)
            request.bufferSize = properties.effectiveBufferSize.map(BufferSize.init)
            request.isAcknowledged = acknowledged
            return .add(request)
        case .acknowledged:
            return nil
        case .subscribed:
            let frequency = frequency.requested.map(RequestedFrequency.init)
            return .reconf(ReconfRequest(subscriptionID: self.id, maxFrequency: frequency))
        case .deleting:
            let cause = role == .zombie ? "zombie" : nil
            return .delete(DeleteRequest(subscriptionID: self.id, isAcknowledged: acknowledged, cause: cause))
        }
    }

    /// The request that is due was written under this identifier.
    mutating func requestWritten(as request: RequestID) {
        if case .subscribed = stage { frequency.reconfWritten() }
        stage = stage.with(.sent(request))
    }
}

extension WireMode {
    fileprivate init(_ mode: SubscriptionMode) {
        switch mode {
        case .merge: self = .merge
        case .distinct: self = .distinct
        case .raw: self = .raw
        case .command: self = .command
        }
    }
}

extension AddRequest.Snapshot {
    fileprivate init(_ snapshot: RequestedSnapshot) {
        switch snapshot {
        case .yes: self = .on
        case .no: self = .off
        case .length(let length): self = .length(length)
        }
    }
}

extension RequestedFrequency {
    fileprivate init(_ frequency: RequestedMaxFrequency) {
        switch frequency {
        case .limited(let limit): self = .limited(limit)
        case .unlimited: self = .unlimited
        case .unfiltered: self = .unfiltered
        }
    }
}

extension BufferSize {
    fileprivate init(_ size: RequestedBufferSize) {
        switch size {
        case .limited(let size): self = .limited(size)
        case .unlimited: self = .unlimited
        }
    }
}
