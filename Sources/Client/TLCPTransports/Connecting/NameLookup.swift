internal import NIOCore
internal import NIOPosix
internal import Primitives

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Looks up the addresses of hosts: one lookup at a time for each name, each on a thread of its own, so that a slow
/// name server delays only the connections to its own hosts. The resolver of NIO's bootstrap looks up all names of an
/// event loop one after the other.
final class NameLookup: Sendable {
    typealias Outcome = Result<[SocketAddress], any Error>

    /// A lookup failed; the value is the text of the system.
    struct Failure: Error, Equatable {
        let reason: String
    }

    /// The lookups of the process, by the system's resolver.
    static let shared = NameLookup(limit: 64, perform: SystemNames.addresses, spawn: DetachedThread.start)

    private struct State {
        /// The queries of each name whose lookup runs or is due. Names are compared byte by byte.
        var queries: [[UInt8]: [NameQuery]] = [:]
        /// Names whose lookup waits for a thread, in order.
        var due: [[UInt8]] = []
        var threads = 0
    }

    private let limit: Int
    private let perform: @Sendable (String) -> Outcome
    private let spawn: @Sendable (@escaping @Sendable () -> Void) -> Bool
    private let state = RankedMutex(State())

    /// - Parameters:
    ///   - limit: Lookups at a time; further names wait.
    ///   - perform: Looks up a name, and blocks until it has the addresses.
    ///   - spawn: Runs a closure on a new thread; false if the system refuses.
    init(
        limit: Int,
        perform: @escaping @Sendable (String) -> Outcome,
        spawn: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool
    ) {
        self.limit = limit
        self.perform = perform
        self.spawn = spawn
    }

    /// Completes the query with the addresses of its host, or joins the lookup of that name that is underway.
    func begin(_ query: NameQuery, host: String) {
        let name = Array(host.utf8)
        let isThreadNeeded = state.withLock { state in
            if state.queries[name] != nil {
                state.queries[name]?.append(query)
                return false
            }
            state.queries[name] = [query]
            state.due.append(name)
            guard state.threads < limit else { return false }
            state.threads += 1
            return true
        }
        if isThreadNeeded, !spawn({ self.work() }) { refuse() }
    }

    /// Removes a query; it is not completed afterwards.
    func cancel(_ query: NameQuery, host: String) {
        state.withLock { $0.queries[Array(host.utf8)]?.removeAll { $0 === query } }
    }

    /// The work of one thread: looks up the names that are due until there are none.
    private func work() {
        while let name = next() {
            let outcome = perform(String(decoding: name, as: UTF8.self))
            let queries = state.withLock { $0.queries.removeValue(forKey: name) ?? [] }
            for query in queries { query.complete(outcome) }
        }
    }

    /// The next name that a query waits for. If there is none, returns nil and no longer counts the thread.
    private func next() -> [UInt8]? {
        state.withLock { state in
            while !state.due.isEmpty {
                let name = state.due.removeFirst()
                if state.queries[name]?.isEmpty == false { return name }
                state.queries[name] = nil
            }
            state.threads -= 1
            return nil
        }
    }

    /// No thread could be started: the names wait until another lookup ends, or fail if no lookup is running.
    private func refuse() {
        let queries = state.withLock { state in
            state.threads -= 1
            guard state.threads == 0 else { return [NameQuery]() }
            defer { state.due = [] }
            return state.due.flatMap { state.queries.removeValue(forKey: $0) ?? [] }
        }
        for query in queries { query.complete(.failure(Failure(reason: "no thread for the lookup"))) }
    }
}

/// The lookup for one connection attempt.
final class NameQuery: Resolver, Sendable {
    private let loop: any EventLoop
    private let lookup: NameLookup
    private let host: String
    private let port: Int
    private let addresses4: EventLoopPromise<[SocketAddress]>
    private let addresses6: EventLoopPromise<[SocketAddress]>

    init(host: String, port: Int, on loop: any EventLoop, _ lookup: NameLookup = .shared) {
        self.loop = loop
        self.lookup = lookup
        self.host = host
        self.port = port
        addresses4 = loop.makePromise()
        addresses6 = loop.makePromise()
    }

    deinit {
        // Without effect on a query that was completed.
        complete(.failure(NameLookup.Failure(reason: "canceled")))
    }

    /// Begins the lookup of both families. A literal address needs none.
    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        if let literal = try? SocketAddress(ipAddress: host, port: port) {
            complete(.success([literal]))
        } else {
            lookup.begin(self, host: host)
        }
        return addresses6.futureResult
    }

    /// The result of the lookup that was begun for the other family.
    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> { addresses4.futureResult }

    func cancelQueries() {
        lookup.cancel(self, host: host)
        complete(.failure(NameLookup.Failure(reason: "canceled")))
    }

    /// Completes both families; only the first call has an effect.
    func complete(_ outcome: NameLookup.Outcome) {
        loop.execute { [port, addresses4, addresses6] in
            switch outcome {
            case .success(let addresses):
                let complete = addresses.map { address in
                    var address = address
                    address.port = port
                    return address
                }
                addresses6.succeed(complete.filter { $0.protocol == .inet6 })
                addresses4.succeed(complete.filter { $0.protocol == .inet })
            case .failure(let error):
                addresses6.fail(error)
                addresses4.fail(error)
            }
        }
    }
}

enum SystemNames {
    /// The addresses of a host for TCP, without a port, in the order of preference of the system. Blocks.
    @Sendable static func addresses(of host: String) -> NameLookup.Outcome {
        var hints = addrinfo()
        // An enumeration in Glibc alone.
        #if canImport(Glibc)
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
            hints.ai_socktype = SOCK_STREAM
        #endif
        hints.ai_protocol = Int32(IPPROTO_TCP)
        var first: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, &hints, &first)
        guard code == 0 else { return .failure(NameLookup.Failure(reason: String(cString: gai_strerror(code)))) }
        defer { freeaddrinfo(first) }
        let entries = sequence(first: first) { $0?.pointee.ai_next }.prefix { $0 != nil }
        return .success(entries.compactMap { $0.flatMap { address($0.pointee, host: host) } })
    }

    private static func address(_ entry: addrinfo, host: String) -> SocketAddress? {
        guard let bytes = UnsafeRawPointer(entry.ai_addr) else { return nil }
        return switch entry.ai_family {
        case AF_INET: SocketAddress(bytes.loadUnaligned(as: sockaddr_in.self), host: host)
        case AF_INET6: SocketAddress(bytes.loadUnaligned(as: sockaddr_in6.self), host: host)
        default: nil
        }
    }
}

/// A thread that ends by itself.
enum DetachedThread {
    private final class Work {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs the closure on a new thread; false if the system has no more threads.
    @Sendable static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        var thread = pthread_t()
        // Released by the thread, or below if there is none.
        let work = Unmanaged.passRetained(Work(body))
        let code = pthread_create(
            &thread,
            nil,
            { context in
                if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
                return nil
            },
            work.toOpaque()
        )
        guard code == 0 else {
            work.release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}
