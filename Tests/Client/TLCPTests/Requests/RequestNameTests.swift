internal import Testing

@testable internal import TLCP

struct RequestNameTests {
    @Test func writesHTTPTargets() {
        #expect(RequestName.createSession.httpTarget() == "/lightstreamer/create_session.txt?LS_protocol=TLCP-2.5.0")
        #expect(
            RequestName.control.httpTarget(session: SessionID("S 1"))
                == "/lightstreamer/control.txt?LS_protocol=TLCP-2.5.0&LS_session=S%201"
        )
        let older = ProtocolVersion(major: 2, minor: 4, subminor: 0)
        #expect(RequestName.msg.httpTarget(version: older) == "/lightstreamer/msg.txt?LS_protocol=TLCP-2.4.0")
    }

    @Test func readsHTTPPaths() {
        #expect(RequestName(httpPath: "/lightstreamer/create_session.txt") == .createSession)
        #expect(RequestName(httpPath: "/a/b/lightstreamer/heartbeat.txt") == .heartbeat)
        for path in [
            "", "/", "/lightstreamer", "/lightstreamer/", "/lightstreamer/wsok.txt", "/control.txt",
            "/lightstreamer/control", "/lightstreamer/control.txt/", "/LIGHTSTREAMER/control.txt",
        ] {
            #expect(RequestName(httpPath: path) == nil, "\(path)")
        }
    }

    @Test func readsAndWritesVersions() {
        let version = ProtocolVersion(webSocketSubprotocol: "TLCP-2.5.0.lightstreamer.com")
        #expect(version == .current)
        #expect(ProtocolVersion.current.webSocketSubprotocol == "TLCP-2.5.0.lightstreamer.com")
        #expect(ProtocolVersion(protocolParameter: "TLCP-2.4.12")?.isServed == true)
        #expect(ProtocolVersion(protocolParameter: "TLCP-3.0.0")?.isServed == false)
        for text in ["", "TLCP-", "TLCP-2.5", "2.5.0", "TLCP-2.5.0.1", "TLCP-2.x.0", "TLCP-2..0"] {
            #expect(ProtocolVersion(protocolParameter: text) == nil, "\(text)")
        }
        #expect(ProtocolVersion(webSocketSubprotocol: "chat") == nil)
    }
}
