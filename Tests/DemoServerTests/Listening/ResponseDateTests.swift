internal import Testing

@testable internal import DemoServer

struct ResponseDateTests {
    @Test(arguments: [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (951_868_799, "Tue, 29 Feb 2000 23:59:59 GMT"), (951_868_800, "Wed, 01 Mar 2000 00:00:00 GMT"),
        (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"), (-1, "Thu, 01 Jan 1970 00:00:00 GMT"),
    ])
    func instantsAreWrittenAsHTTPDemands(seconds: Int64, text: String) {
        #expect(ResponseDate.text(secondsSince1970: seconds) == text)
    }
}
