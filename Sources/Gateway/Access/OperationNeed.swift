/// What an operation asks of its caller, before anything is looked up.
enum OperationNeed: Sendable, Equatable {
    /// Nothing: it tells nothing that is not the same for everybody.
    case open
    /// To say who it is; the rest depends on what is asked for.
    case identity
    /// A right.
    case right(Right)

    /// The need of an operation, by its name in openapi.yaml. One that is missing here needs more than anybody has a
    /// word for: it is refused.
    static func of(_ operation: String) -> OperationNeed? { table[operation] }

    /// The table; `OperationNeedTests` holds it against the routes.
    static let table: [String: OperationNeed] = Dictionary(
        uniqueKeysWithValues: openToAll.map { ($0, .open) } + openToCallers.map { ($0, .identity) }
            + rights.flatMap { right, operations in operations.map { ($0, .right(right)) } }
    )

    /// Probes, and pages that are part of the program.
    private static let openToAll = ["healthLive", "healthReady", "contract", "docs", "dashboard", "asset"]

    /// The one-liner reads what exists or joins what does not, as its query says.
    private static let openToCallers = ["stream", "createTicket"]

    private static let rights: [Right: [String]] = [
        .read: [
            "listUpstreams", "getUpstream", "listClients", "getClient", "streamClient", "listSubscriptions",
            "getSubscription", "getValues", "getItemValues", "getKeys", "getKeyValues", "getKeyValue", "getValue",
            "streamSubscription", "listStreams", "getStream", "openStream", "health", "metrics",
        ],
        .subscribe: [
            "createSubscription", "patchSubscription", "deleteSubscription", "subscribe", "unsubscribe", "createStream",
            "patchStream", "deleteStream",
        ],
        // Options and cookies may hold credentials for the server, so even reading them needs more than `read`.
        .manage: [
            "createClient", "deleteClient", "getClientOptions", "patchClientOptions", "getClientDetails",
            "patchClientDetails", "listCookies", "addCookies", "deleteCookies", "connectClient", "disconnectClient",
        ],
        .send: ["sendMessage"],
    ]

    /// The operations that may be called with a ticket: those that an `EventSource` can open.
    static let ticketed: Set<String> = ["stream", "streamClient", "streamSubscription", "openStream"]
}
