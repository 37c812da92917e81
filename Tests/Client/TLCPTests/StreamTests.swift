internal import TestSupport
internal import Testing

@testable internal import TLCP

/// From the bytes of a stream connection to rows: splitter, parser and rows together.
struct StreamTests {
    static let stream =
        [
            "WSOK", "CONOK,S9,50000,5000,*", "SERVNAME,Embedded test server", "CLIENTIP,127.0.0.1", "CONS,unlimited",
            "SUBOK,1,2,2", "CONF,1,5.0,filtered", "U,1,1,Acmé|10.25", "U,1,2,Zeta, Inc.|7.5", "SUBCMD,2,1,3,1,2",
            "CONF,2,unlimited,filtered", "U,2,1,IBM|ADD|10", "EOS,2,1", "U,1,1,|10.5", "U,2,1,ACME|ADD|5", "REQOK,3",
            "MSGDONE,orders,1,done", "U,2,1,IBM|UPDATE|15", "PROBE", "", "XYZ,1", "REQOK,4", "U,1,2,^Tecis|", "UNSUB,2",
            "END,31,Destroy invoked by client",
        ].joined(separator: "\r\n") + "\r\n"

    private struct Reading: Equatable {
        var dataCount = 0
        var rows: [Int: ItemRow] = [:]
        var last: ServerNotification?
    }

    private func read(_ chunks: [ArraySlice<UInt8>]) throws -> Reading {
        var splitter = LineSplitter()
        var reading = Reading()
        for line in try chunks.flatMap({ try splitter.feed($0) }) {
            guard let notification = try ServerNotification(parsing: line) else { continue }
            if notification.isDataNotification { reading.dataCount += 1 }
            if case .update(let subscription, let item, let fields) = notification {
                let key = subscription.rawValue * 10 + item
                _ = try reading.rows[key, default: ItemRow(fieldCount: subscription.rawValue + 1)].apply(fields)
            }
            reading.last = notification
        }
        return reading
    }

    @Test func everySplitOfAStreamIsReadTheSame() throws {
        let expected = try read([Array(Self.stream.utf8)[...]])
        #expect(expected.dataCount == 14)
        #expect(expected.rows[11]?.values == ["Acmé", "10.5"])
        #expect(expected.rows[21]?.values == ["IBM", "UPDATE", "15"])
        #expect(expected.last == .end(code: 31, message: "Destroy invoked by client"))
        for chunks in EverySplit.of(Self.stream) { #expect(try read(chunks) == expected) }
    }
}
