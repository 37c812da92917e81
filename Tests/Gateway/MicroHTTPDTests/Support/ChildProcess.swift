internal import Glibc
internal import Synchronization

/// Another program, with pipes to its input and from its output; its error output is discarded.
final class ChildProcess {
    private let identifier: pid_t
    private let input: Int32
    private let output: Int32
    private var hasEnded = false

    // Pipes are inheritable at first: no other child may be started before that is changed.
    private static let birth = Mutex(())

    init(_ arguments: [String]) throws {
        var pointers = arguments.map { strdup($0) } + [nil]
        defer { pointers.forEach { free($0) } }
        (identifier, input, output) = try Self.birth.withLock { _ in try Self.spawn(&pointers) }
    }

    private static func spawn(_ arguments: inout [UnsafeMutablePointer<CChar>?]) throws -> (pid_t, Int32, Int32) {
        var (inward, outward): ([Int32], [Int32]) = ([0, 0], [0, 0])
        guard pipe(&inward) == 0, pipe(&outward) == 0 else { throw TestClient.Failure(description: "pipe: \(errno)") }
        for descriptor in inward + outward { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, inward[0], 0)
        posix_spawn_file_actions_adddup2(&actions, outward[1], 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        var identifier: pid_t = 0
        let code = posix_spawnp(&identifier, arguments[0]!, &actions, nil, &arguments, environ)
        close(inward[0])
        close(outward[1])
        guard code == 0 else { throw TestClient.Failure(description: "spawn: \(code)") }
        return (identifier, inward[1], outward[0])
    }

    deinit {
        end()
        close(input)
        close(output)
    }

    func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { Glibc.write(input, $0.baseAddress, $0.count) }
    }

    /// The output since the last call, at least one byte; empty at its end.
    func readMore() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = read(output, &bytes, bytes.count)
        return Array(bytes[..<max(0, count)])
    }

    func waitUntilExit() {
        guard !hasEnded else { return }
        hasEnded = true
        waitpid(identifier, nil, 0)
    }

    /// Kills it.
    func end() {
        guard !hasEnded else { return }
        kill(identifier, SIGKILL)
        waitUntilExit()
    }
}
