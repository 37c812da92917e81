internal import Primitives
internal import SessionCore
internal import Synchronization

/// The state shared by a client's public objects, and the queue of the driver. It outlives the client until the
/// driver has ended.
final class ClientCore: Sendable {
    let state: RankedMutex<ClientState>
    let mailbox = Mailbox<DriverInput>()
    let configuration: ClientConfiguration
    let cookieJar: CookieJar
    /// `ClientCounters.updates`, which changes too often for the lock.
    let updates = Atomic<UInt64>(0)
    /// `ClientCounters.bytesReceived`.
    let bytesReceived = Atomic<UInt64>(0)
    /// `ClientCounters.linesReceived`.
    let linesReceived = Atomic<UInt64>(0)
    /// See `LightstreamerClient.notificationNumber`.
    let notificationNumber = Atomic(0)
    /// Counts the inputs, and the slices of lines, that the driver has begun to handle.
    let rounds = Atomic<UInt64>(0)
    /// See `LightstreamerClient.isSessionOffered`.
    let isSessionOffered = Atomic(false)

    init(configuration: ClientConfiguration) {
        self.configuration = configuration
        cookieJar = configuration.cookieJar ?? CookieJar()
        state = RankedMutex(ClientState(options: configuration.edition.defaultOptions), rank: .clientCore)
    }

    // MARK: - Options

    func updateOptions(_ change: (inout ConnectionOptionValues) -> Void) throws(ClientError) {
        let (old, oldRequested) = state.withLock { ($0.options, $0.requestedOptions) }
        var (new, requested) = (old, oldRequested)
        change(&new)
        change(&requested)
        let changed = ConnectionOption.all.filter { $0.differs(old, new) }
        let asked = ConnectionOption.all.filter { $0.differs(oldRequested, requested) }
        for property in ConnectionOption.all {
            if let violation = property.violation(in: new) { throw violation }
        }
        state.withLock { state in
            // Copied one by one: another thread may have set other properties meanwhile.
            for property in asked { property.copy(from: requested, to: &state.requestedOptions) }
            for property in changed {
                property.copy(from: new, to: &state.options)
                state.pendingOptions[property.name, default: 0] += 1
            }
            // Inside the lock, so that the driver sees changes in the order in which getters do.
            if !changed.isEmpty, !state.isShutDown { mailbox.put(.optionsChanged(changed, new)) }
        }
    }

    // MARK: - Details

    func updateDetails(_ name: String, _ change: (inout ConnectionDetailValues) -> Void) {
        state.withLock { state in
            let old = state.details
            change(&state.details)
            if old != state.details, !state.isShutDown { mailbox.put(.detailsChanged(name)) }
        }
    }

    func setServerAddress(_ address: String?) throws(ClientError) {
        if let address {
            guard ServerAddress(address) != nil else {
                throw ClientError(
                    .invalidValue,
                    property: "serverAddress",
                    value: address,
                    rule: "must be an http or https URL without a query"
                )
            }
            guard configuration.allowedAddresses?.allows(address) ?? true else {
                throw ClientError(
                    .addressNotAllowed,
                    property: "serverAddress",
                    value: address,
                    rule: "is not one of the addresses that may be connected to"
                )
            }
        }
        updateDetails("serverAddress") { $0.serverAddress = address }
    }

    func setCertificatePins(_ pins: [String]) throws(ClientError) {
        for pin in pins where CertificatePin(pin) == nil {
            throw ClientError(
                .invalidValue,
                property: "certificatePins",
                value: pin,
                rule: "must be sha256/ or sha1/ followed by a digest in base64"
            )
        }
        state.withLock { state in
            guard state.certificatePins != pins else { return }
            state.certificatePins = pins
            if !state.isShutDown { mailbox.put(.detailsChanged("certificatePins")) }
        }
    }

    // MARK: - Subscriptions

    /// Removes a subscription from the list of active ones.
    func forget(_ subscription: Subscription) {
        state.withLock { $0.subscriptions.removeAll { $0 === subscription } }
    }
}
