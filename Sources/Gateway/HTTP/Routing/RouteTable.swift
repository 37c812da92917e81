/// Every route, one line each, in the order of openapi.yaml, which is written first.
enum RouteTable {
    /// The statuses of every operation under `/v1`, 401, 403, 429 and 503 among them for the rules that stand before it.
    private static let common: Set<Int> = [400, 401, 403, 422, 429, 503]
    private static let read = common.union([200, 404, 406])
    private static let list = common.union([200, 406])
    private static let tagged = read.union([304])
    private static let remove = common.union([204, 404])
    private static let write = common.union([404, 406, 409, 413, 415])
    private static let patch = write.union([200, 412])
    private static let page: Set<Int> = [200, 304, 400, 429, 503]
    private static let probe: Set<Int> = [200, 400, 503]
    private static let figures: Set<Int> = [200, 400, 401, 403, 429, 503]
    private static let ticket = common.union([201, 406, 409, 413, 415])

    private static let paging = ["limit", "cursor"]
    private static let stream = StreamQuery.settings
    private static let reopen = ["format", "lastEventId"]
    private static let oneLiner = StreamQuery.join + ["subscription", "client"] + stream
    private static let places = ["item", "itemPos", "field", "fieldPos", "key"]

    /// The table over the services.
    static func routes(_ services: Services) -> [Route] {
        clients(services) + subscriptions(services) + streams(services) + pages(services)
    }

    private static func clients(_ services: Services) -> [Route] {
        let upstreams = UpstreamsResource(services: services)
        let clients = ClientsResource(services: services)
        let options = ClientOptionsResource(services: services)
        let details = ClientDetailsResource(services: services)
        let cookies = CookiesResource(services: services)
        let connection = ConnectionResource(services: services)
        let messages = MessagesResource(services: services)
        let streams = StreamsResource(services: services)
        return [
            Route(.get, "/v1/upstreams", "listUpstreams", list, query: paging, upstreams.list),
            Route(.get, "/v1/upstreams/{name}", "getUpstream", read, upstreams.get),
            Route(.get, "/v1/clients", "listClients", list, query: paging, clients.list),
            Route(.post, "/v1/clients", "createClient", write.union([201, 502]), clients.create),
            Route(.get, "/v1/clients/{id}", "getClient", read, clients.get),
            Route(.delete, "/v1/clients/{id}", "deleteClient", remove.union([409]), clients.delete),
            Route(.get, "/v1/clients/{id}/options", "getClientOptions", tagged, options.get),
            Route(.patch, "/v1/clients/{id}/options", "patchClientOptions", patch, options.patch),
            Route(.get, "/v1/clients/{id}/details", "getClientDetails", tagged, details.get),
            Route(.patch, "/v1/clients/{id}/details", "patchClientDetails", patch, details.patch),
            Route(.get, "/v1/clients/{id}/cookies", "listCookies", read, query: ["url"], cookies.list),
            Route(
                .post,
                "/v1/clients/{id}/cookies",
                "addCookies",
                remove.union([409, 413, 415]),
                cookies.add
            ),
            Route(.delete, "/v1/clients/{id}/cookies", "deleteCookies", remove, cookies.clear),
            Route(
                .post,
                "/v1/clients/{id}/connect",
                "connectClient",
                write.union([200, 202, 502]),
                connection.connect
            ),
            Route(
                .post,
                "/v1/clients/{id}/disconnect",
                "disconnectClient",
                write.union([200, 202]),
                connection.disconnect
            ),
            Route(.post, "/v1/clients/{id}/messages", "sendMessage", write.union([200, 202]), messages.send),
            Route(
                .get,
                "/v1/clients/{id}/events",
                "streamClient",
                read,
                query: stream + ["subscriptions"],
                forms: [],
                streams.client
            ),
        ]
    }

    private static func subscriptions(_ services: Services) -> [Route] {
        let subscriptions = SubscriptionsResource(services: services)
        let values = ValuesResource(services: services)
        let streams = StreamsResource(services: services)
        let root = "/v1/subscriptions"
        let one = "/v1/subscriptions/{id}"
        let value = tagged.union([204])
        return [
            Route(.get, root, "listSubscriptions", list, query: paging, subscriptions.list),
            Route(.post, root, "createSubscription", write.union([201, 502]), subscriptions.create),
            Route(.get, one, "getSubscription", tagged, subscriptions.get),
            Route(.patch, one, "patchSubscription", patch, subscriptions.patch),
            Route(.delete, one, "deleteSubscription", remove.union([409]), subscriptions.delete),
            Route(.post, one + "/subscribe", "subscribe", write.union([200, 202, 502]), subscriptions.subscribe),
            Route(.post, one + "/unsubscribe", "unsubscribe", write.union([202]), subscriptions.unsubscribe),
            Route(.get, one + "/values", "getValues", value.union([409]), query: places, forms: [], values.query),
            Route(.get, one + "/values/{item}", "getItemValues", tagged, forms: [], values.item),
            Route(.get, one + "/values/{item}/keys", "getKeys", value, forms: [], values.keys),
            Route(.get, one + "/values/{item}/keys/{key}", "getKeyValues", tagged.union([409]), forms: [], values.key),
            Route(
                .get,
                one + "/values/{item}/keys/{key}/{field}",
                "getKeyValue",
                value.union([409]),
                forms: [],
                values.keyField
            ),
            Route(.get, one + "/values/{item}/{field}", "getValue", value, forms: [], values.field),
            Route(.get, one + "/events", "streamSubscription", read, query: stream, forms: [], streams.subscription),
        ]
    }

    private static func streams(_ services: Services) -> [Route] {
        let streams = StreamsResource(services: services)
        let root = "/v1/streams"
        let one = "/v1/streams/{id}"
        return [
            Route(.get, "/v1/stream", "stream", read, query: oneLiner, forms: [], streams.oneLiner),
            Route(.get, root, "listStreams", list, query: paging, streams.list),
            Route(.post, root, "createStream", write.union([201]), streams.create),
            Route(.get, one, "getStream", tagged, streams.get),
            Route(.patch, one, "patchStream", patch, streams.patch),
            Route(.delete, one, "deleteStream", remove, streams.delete),
            Route(.get, one + "/events", "openStream", read.union([409]), query: reopen, forms: [], streams.events),
            Route(.post, "/v1/tickets", "createTicket", ticket, TicketsResource(services: services).create),
        ]
    }

    private static func pages(_ services: Services) -> [Route] {
        let health = HealthResource(services: services)
        let pages = PagesResource(services: services)
        return [
            Route(.get, "/health", "health", figures, query: nil, health.all),
            Route(.get, "/health/live", "healthLive", probe, query: nil, health.live),
            Route(.get, "/health/ready", "healthReady", probe, query: nil, health.ready),
            Route(.get, "/metrics", "metrics", figures, query: nil, pages.metrics),
            Route(.get, "/openapi.yaml", "contract", page, query: nil, pages.contract),
            Route(.get, "/docs", "docs", page, query: nil, pages.docs),
            Route(.get, "/", "dashboard", page, query: nil, pages.dashboard),
            Route(.get, "/assets/{file}", "asset", page.union([404]), query: nil, pages.asset),
        ]
    }
}
