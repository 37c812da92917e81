internal import Testing

@testable internal import DemoServer

struct RequestTargetTests {
    @Test(arguments: [
        ("/lightstreamer/msg.txt?a=b?c", "/lightstreamer/msg.txt", "a=b?c"), ("/", "/", ""), ("", "", ""),
        ("http://host:80/lightstreamer/msg.txt?a=b", "/lightstreamer/msg.txt", "a=b"),
        ("HTTPS://host/x", "/x", ""), ("http://host", "/", ""), ("http://host?a=b", "", "a=b"), ("*", "*", ""),
    ])
    func pathAndQueryAreFoundInEveryForm(uri: String, path: String, query: String) {
        let target = RequestTarget(uri)
        #expect(target.path == path && target.query == query)
    }
}
