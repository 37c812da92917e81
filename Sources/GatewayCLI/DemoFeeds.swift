/// The data of the demo server as feeds.
enum DemoFeeds {
    static let settings: [(key: String, value: String)] = quotes + portfolio + chat

    private static let quotes =
        feed("quotes", title: "Quotes", "Simulated prices of 30 stocks.", items: "item{1…30}")
        + fields(
            of: "quotes",
            [
                ("stock_name", "string"), ("last_price", "number EUR, The price of the last trade."),
                ("time", "string, The time of the last trade."),
                ("pct_change", "number %, The change since the reference price."),
                ("bid_quantity", "integer, The quantity at the best bid."), ("bid", "number EUR, The best bid."),
                ("ask", "number EUR, The best ask."), ("ask_quantity", "integer, The quantity at the best ask."),
                ("min", "number EUR, The lowest price of the day."),
                ("max", "number EUR, The highest price of the day."),
                ("ref_price", "number EUR, The reference price."),
                ("open_price", "number EUR, The first price of the day."),
                ("item_status", "string"),
            ]
        )

    private static let portfolio =
        feed("portfolio", title: "Portfolio", "The positions of a portfolio, by stock.", items: "portfolio1")
        + [("feeds.portfolio.mode", "COMMAND"), ("feeds.portfolio.dataAdapter", "PORTFOLIO_ADAPTER")]
        + fields(
            of: "portfolio",
            [
                ("key", "string, The item of the stock."), ("command", "string"),
                ("qty", "integer, The number of shares."),
            ]
        )

    private static let chat =
        feed("chat", title: "Chat", "The messages of a chat room.", items: "chat_room")
        + [("feeds.chat.mode", "DISTINCT"), ("feeds.chat.dataAdapter", "CHAT_ROOM")]
        + fields(
            of: "chat",
            [
                ("raw_timestamp", "timestamp-ms, The time of the message."), ("message", "string"),
                ("IP", "string, The address of the sender."),
            ]
        )

    private static func feed(
        _ name: String,
        title: String,
        _ description: String,
        items: String
    ) -> [(key: String, value: String)] {
        [
            ("feeds.\(name).title", title), ("feeds.\(name).description", description),
            ("feeds.\(name).upstream", "demo"), ("feeds.\(name).items", items),
        ]
    }

    private static func fields(of feed: String, _ fields: [(String, String)]) -> [(key: String, value: String)] {
        fields.map { ("feeds.\(feed).fields.\($0.0)", $0.1) }
    }
}
