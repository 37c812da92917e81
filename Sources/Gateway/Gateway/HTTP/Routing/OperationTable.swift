/// Every operation, one row each, in the order of openapi.yaml.
enum OperationTable {
    private typealias Row = Operation

    private static let read: Operation.Authorization = .right(.read)
    private static let subscribe: Operation.Authorization = .right(.subscribe)
    // Options and cookies may hold credentials for the server, so even reading them needs more than `read`.
    private static let manage: Operation.Authorization = .right(.manage)
    private static let send: Operation.Authorization = .right(.send)

    private static let paging = ["limit", "cursor"]
    private static let settings = StreamQuery.settings
    private static let reopening = ["format", "lastEventId", "since"]
    private static let opening = StreamQuery.join + ["subscription", "client"] + settings
    private static let valueSelection = ["item", "itemPos", "field", "fieldPos", "key"]

    static func operations(_ services: Services) -> [Operation] {
        upstreams(services) + clients(services) + clientParts(services) + subscriptions(services) + values(services)
            + feeds(services) + streams(services) + modelContext(services) + pages(services)
    }

    private static func upstreams(_ services: Services) -> [Operation] {
        let upstreams = UpstreamsResource(services: services)
        return [
            Row(.get, "/v1/upstreams", "listUpstreams", read, [200], query: paging, upstreams.list),
            Row(.get, "/v1/upstreams/{name}", "getUpstream", read, [200, 304], upstreams.get),
            // The limit holds for all upstreams.
            Row(.patch, "/v1/upstreams/{name}", "patchUpstream", .rightOnAllUpstreams(.manage), [200], upstreams.patch),
        ]
    }

    private static func stream(
        _ path: String,
        _ name: String,
        _ authorization: Operation.Authorization = read,
        _ statuses: Set<Int> = [200],
        query: [String],
        on placement: Operation.Placement = .receiver,
        _ handler: @escaping Operation.Handler
    ) -> Operation {
        Row(.get, path, name, authorization, statuses, query: query, tickets: true, on: placement, handler)
    }

    /// A document of the gateway, which has any query.
    private static func page(
        _ path: String,
        _ name: String,
        _ authorization: Operation.Authorization,
        _ statuses: Set<Int>,
        mediaTypes: Operation.MediaTypes = .fixed,
        rateLimited: Bool = true,
        operational: Bool = false,
        _ handler: @escaping Operation.Handler
    ) -> Operation {
        Row(
            .get,
            path,
            name,
            authorization,
            statuses,
            query: nil,
            mediaTypes: mediaTypes,
            rateLimited: rateLimited,
            operational: operational,
            handler
        )
    }

    private static func waiting(_ handler: @escaping Operation.WaitingHandler) -> Operation.Handler {
        { call in .later { try await handler(call) } }
    }

    private static func waiting(_ handler: @escaping @Sendable (Call) async throws -> Response) -> Operation.Handler {
        { call in .later { .response(try await handler(call)) } }
    }

    private static func clients(_ services: Services) -> [Operation] {
        let (root, one) = ("/v1/clients", "/v1/clients/{id}")
        let clients = ClientsResource(services: services)
        let connection = ConnectionResource(services: services)
        let messages = MessagesResource(services: services)
        let events = waiting(StreamsResource(services: services).client)
        let later = waiting(messages.sendToUpstream)
        return [
            Row(.get, root, "listClients", read, [200], query: paging, on: .list(.clients), clients.list),
            Row(.post, root, "createClient", manage, [201, 404, 502], on: .creator, waiting(clients.create)),
            Row(.get, one, "getClient", read, [200], clients.get),
            Row(.delete, one, "deleteClient", manage, [204, 409], clients.delete),
            Row(.post, one + "/connect", "connectClient", manage, [200, 202, 502], waiting(connection.connect)),
            Row(.post, one + "/disconnect", "disconnectClient", manage, [200, 202], waiting(connection.disconnect)),
            Row(.post, one + "/messages", "sendMessage", send, [200, 202], waiting(messages.send)),
            Row(.post, "/v1/messages", "sendMessageToUpstream", send, [200, 202, 404], query: ["upstream"], later),
            stream(one + "/events", "streamClient", query: settings + ["subscriptions"], events),
        ]
    }

    private static func clientParts(_ services: Services) -> [Operation] {
        let (root, tagged) = ("/v1/clients/{id}", Set([200, 304]))
        let options = ClientOptionsResource(services: services)
        let details = ClientDetailsResource(services: services)
        let cookies = CookiesResource(services: services)
        let push = PushResource(services: services)
        let jar = root + "/cookies"
        return [
            Row(.get, root + "/options", "getClientOptions", manage, tagged, options.get),
            Row(.patch, root + "/options", "patchClientOptions", manage, [200], leaving: .body, options.patch),
            Row(.get, root + "/details", "getClientDetails", manage, tagged, details.get),
            Row(.patch, root + "/details", "patchClientDetails", manage, [200], leaving: .body, details.patch),
            Row(.get, jar, "listCookies", manage, [200], query: ["url"], cookies.list),
            Row(.post, jar, "addCookies", manage, [204], mediaTypes: .fixed, cookies.add),
            Row(.put, root + "/device", "registerDevice", manage, [202, 409], push.register),
            Row(.post, root + "/badge-reset", "resetBadge", manage, [202], push.resetBadge),
            Row(.delete, jar, "deleteCookies", manage, [204], cookies.clear),
        ]
    }

    private static func subscriptions(_ services: Services) -> [Operation] {
        let (root, one) = ("/v1/subscriptions", "/v1/subscriptions/{id}")
        let resource = SubscriptionsResource(services: services)
        let events = waiting(StreamsResource(services: services).subscription)
        return [
            Row(.get, root, "listSubscriptions", read, [200], query: paging, on: .list(.subscriptions), resource.list),
            Row(.post, root, "createSubscription", subscribe, [201, 404, 502], on: .carrier, waiting(resource.create)),
            Row(.get, one, "getSubscription", read, [200, 304], resource.get),
            Row(.patch, one, "patchSubscription", subscribe, [200], waiting(resource.patch)),
            Row(.delete, one, "deleteSubscription", subscribe, [204, 409, 412], resource.delete),
            Row(.post, one + "/subscribe", "subscribe", subscribe, [200, 202, 502], waiting(resource.subscribe)),
            Row(.post, one + "/unsubscribe", "unsubscribe", subscribe, [202], resource.unsubscribe),
            stream(one + "/events", "streamSubscription", query: settings, events),
        ]
    }

    private static func values(_ services: Services) -> [Operation] {
        let values = ValuesResource(services: services)
        let current = CurrentValuesResource(services: services)
        let present = current.repeated(or: current.get)
        let (query, all) = (ValuesQuery.parameters, Set([200, 204, 304, 404, 502, 504]))
        let (root, found) = ("/v1/subscriptions/{id}/values", Set([200, 304]))
        func row(
            _ path: String,
            _ name: String,
            _ statuses: Set<Int>,
            query: [String] = [],
            _ handler: @escaping Operation.Handler
        ) -> Operation {
            Row(.get, root + path, name, read, found.union(statuses), query: query, mediaTypes: .negotiated, handler)
        }
        return [
            Row(.get, "/v1/values", "readValues", .publicFeeds, all, query: query, mediaTypes: .negotiated, present),
            row("", "getValues", [204, 409], query: valueSelection, values.query),
            row("/{item}", "getItemValues", [], values.item),
            row("/{item}/keys", "getKeys", [204], values.keys),
            row("/{item}/keys/{key}", "getKeyValues", [409], values.key),
            row("/{item}/keys/{key}/{field}", "getKeyValue", [204, 409], values.keyField),
            row("/{item}/{field}", "getValue", [204], values.field),
        ]
    }

    private static func feeds(_ services: Services) -> [Operation] {
        let feeds = FeedsResource(services: services)
        let current = CurrentValuesResource(services: services)
        let (parameters, statuses) = (FeedsResource.parameters, Set([200, 204, 304, 502, 504]))
        func values(_ path: String, _ name: String, _ handler: @escaping Operation.WaitingHandler) -> Operation {
            let handler = current.repeated(or: handler)
            return stream("/feeds/{feed}" + path, name, .publicFeeds, statuses, query: parameters, handler)
        }
        return [
            Row(.get, "/v1/feeds", "listFeeds", .publicFeeds, [200], query: paging, feeds.list),
            Row(.get, "/v1/feeds/{feed}", "getFeed", .publicFeeds, [200, 304], feeds.get),
            values("", "readFeed", feeds.all),
            values("/{item}", "readFeedItem", feeds.item),
            values("/{item}/{field}", "readFeedValue", feeds.field),
        ]
    }

    private static func streams(_ services: Services) -> [Operation] {
        let (root, one) = ("/v1/streams", "/v1/streams/{id}")
        let streams = StreamsResource(services: services)
        let tickets = TicketsResource(services: services)
        let session = SessionResource(services: services)
        return [
            // The operation reads existing subscriptions or joins new ones: the right depends on the query.
            stream("/v1/stream", "stream", .publicFeeds, [200, 404], query: opening, waiting(streams.oneLiner)),
            Row(.get, root, "listStreams", read, [200], query: paging, on: .list(.streams), streams.list),
            Row(.post, root, "createStream", subscribe, [201, 404], on: .creator, waiting(streams.create)),
            Row(.get, one, "getStream", read, [200, 304], streams.get),
            Row(.patch, one, "patchStream", subscribe, [200], leaving: .ownedStream, waiting(streams.patch)),
            Row(.delete, one, "deleteStream", subscribe, [204, 412], leaving: .noStream, streams.delete),
            stream(one + "/events", "openStream", read, [200, 409], query: reopening, on: .opener, streams.events),
            Row(.post, "/v1/tickets", "createTicket", .authenticated, [201], tickets.create),
            Row(.get, "/v1/session", "getSession", .authenticated, [200], SessionView(services: services).get),
            Row(.post, "/v1/session", "createSession", .authenticated, [204], mediaTypes: .fixed, session.create),
            Row(.delete, "/v1/session", "deleteSession", .open, [204, 403, 409], session.delete),
        ]
    }

    private static func modelContext(_ services: Services) -> [Operation] {
        let path = "/mcp"
        let resource = MCPResource(services: services)
        return [
            Row(.post, path, "callModelContext", .publicFeeds, [200, 202, 404], query: nil, waiting(resource.post)),
            page(path, "awaitModelContext", .publicFeeds, [200, 404], mediaTypes: .negotiated, waiting(resource.get)),
            Row(.delete, path, "endModelContext", .publicFeeds, [204, 404], query: nil, resource.delete),
        ]
    }

    private static func pages(_ services: Services) -> [Operation] {
        let health = HealthResource(services: services)
        let pages = PagesResource(services: services)
        let contract = ContractResource(services: services)
        return [
            page("/health", "health", read, [200], operational: true, health.all),
            // Probes are exempt from rate limits, so that the load of other callers does not cause a restart of the
            // container.
            page("/health/live", "healthLive", .open, [200], rateLimited: false, operational: true, health.live),
            page("/health/ready", "healthReady", .open, [200], rateLimited: false, operational: true, health.ready),
            page("/metrics", "metrics", .rightOnAllUpstreams(.read), [200], operational: true, pages.metrics),
            page("/openapi.yaml", "contract", .open, [200, 304], pages.contract),
            page("/openapi.json", "contractJSON", .open, [200, 304], waiting(contract.json)),
            page("/openapi-3.2.json", "contractEdition", .open, [200, 304], waiting(contract.edition)),
            page("/docs", "docs", .open, [200, 304], pages.docs),
            page("/", "dashboard", .open, [200, 304], pages.dashboard),
            page("/assets/{file}", "asset", .open, [200, 304], pages.asset),
        ]
    }
}
