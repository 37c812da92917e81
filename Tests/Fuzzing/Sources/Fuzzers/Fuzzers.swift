#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A function that is called with arbitrary bytes and traps if a property does not hold.
typealias Fuzzer = @Sendable (ArraySlice<UInt8>) -> Void

/// All fuzzers by name. `run` lists them in this order.
private let fuzzers: [(name: String, fuzzer: Fuzzer)] = [
    ("tlcp-lines", fuzzTLCPLines),
    ("field-lists", fuzzFieldLists),
    ("requests", fuzzRequests),
    ("json", fuzzJSON),
    ("json-patches", fuzzJSONPatches),
    ("events", fuzzEvents),
    ("demo-server", fuzzDemoServer),
    ("request-heads", fuzzRequestHeads),
    ("queries", fuzzQueries),
    ("tokens", fuzzTokens),
    ("configurations", fuzzConfigurations),
    ("cluster-messages", fuzzClusterMessages),
    ("recordings", fuzzRecordings),
]

/// The fuzzer that the environment variable `FUZZER` names.
private let selected: Fuzzer = {
    let name = getenv("FUZZER").map { String(cString: $0) } ?? ""
    guard let found = fuzzers.first(where: { $0.name == name }) else {
        print("FUZZER must be one of: \(fuzzers.map(\.name).joined(separator: " "))")
        exit(2)
    }
    return found.fuzzer
}()

/// The entry point that libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    selected(Array(UnsafeBufferPointer(start: bytes, count: count))[...])
    return 0
}

/// Splits an input at NUL bytes.
func parts(of input: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    input.split(separator: 0, omittingEmptySubsequences: false)
}
