internal import TLCP

extension SubscriptionMachine {
    /// The request that is due; nil if it is no longer needed.
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
                mode: properties.mode,
                group: properties.items.wireName,
                schema: properties.fields.wireName
            )
            request.dataAdapter = properties.dataAdapter
            request.selector = properties.selector
            request.snapshot = properties.requestedSnapshot
            request.maxFrequency = frequency.current
            request.bufferSize = properties.effectiveBufferSize
            request.isAcknowledged = acknowledged
            return .add(request)
        case .acknowledged:
            return nil
        case .subscribed:
            return .reconf(ReconfRequest(subscriptionID: self.id, maxFrequency: frequency.requested))
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
