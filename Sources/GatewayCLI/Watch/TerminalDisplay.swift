internal import Dispatch
internal import FoundationEssentials
internal import Glibc
internal import LightstreamerClient
internal import Primitives
internal import UnixSignals

/// A table in a terminal that changes in place. `q`, Ctrl-C and a signal end it; its last state stays on the terminal.
final class TerminalDisplay: WatchDisplay {
    /// The pause between two drawings.
    private static let interval = Duration.milliseconds(250)

    private struct State {
        var table: WatchTable
        var isOpen = true
    }

    private let state: RankedMutex<State>
    private let settings: termios
    private let isColoured: Bool

    /// Takes over the terminal; nil if standard input and output are not a terminal.
    init?(mode: SubscriptionMode, fields: [String]) {
        let environment = ProcessInfo.processInfo.environment
        guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1, environment["TERM"] != "dumb" else { return nil }
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        self.settings = settings
        isColoured = environment["NO_COLOR", default: ""].isEmpty
        state = RankedMutex(State(table: WatchTable(mode: mode, fields: fields)))
        // Raw mode without echo; Ctrl-C is read as a key, so that the terminal is restored.
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        // The alternate screen, without a cursor.
        StandardOutput.write("\u{1B}[?1049h\u{1B}[?25l")
    }

    func show(_ event: WatchEvent) -> Bool {
        let now = Self.now
        state.withLock { $0.table.apply(event, now: now) }
        return true
    }

    func run() async -> WatchFailure? {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.draw() }
            group.addTask { await Self.waitForEndKey() }
            group.addTask {
                for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup) { return }
            }
            await group.next()
            group.cancelAll()
        }
        return nil
    }

    func close() {
        let (width, height) = Self.size
        let rest = state.withLock { state in
            defer { state.isOpen = false }
            return state.isOpen ? state.table.lastLines(width: width, height: height, isColoured: isColoured) : nil
        }
        guard let rest else { return }
        StandardOutput.write("\u{1B}[?25h\u{1B}[?1049l")
        var settings = settings
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        StandardOutput.write(rest.map { $0 + "\n" }.joined())
    }

    private func draw() async {
        while !Task.isCancelled {
            let (width, height) = Self.size
            let (now, isColoured) = (Self.now, isColoured)
            let lines = state.withLock { state in
                state.isOpen
                    ? state.table.lines(width: width, height: height, now: now, isColoured: isColoured) : []
            }
            // Each line is cleared before it is written: clearing after a line as wide as the terminal would erase its
            // last character.
            if !lines.isEmpty {
                StandardOutput.write("\u{1B}[H" + lines.map { "\u{1B}[K" + $0 }.joined(separator: "\r\n"))
            }
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// Reads keys on a thread of its own, which ends with the process: a blocked read cannot be cancelled.
    private static func waitForEndKey() async {
        let (keys, continuation) = AsyncStream.makeStream(of: UInt8.self, bufferingPolicy: .bufferingNewest(16))
        DispatchQueue(label: "keys").async {
            var key: UInt8 = 0
            while read(STDIN_FILENO, &key, 1) == 1 { continuation.yield(key) }
            continuation.finish()
        }
        let endKeys: Set<UInt8> = [UInt8(ascii: "q"), UInt8(ascii: "Q"), 3, 4]  // and Ctrl-C, Ctrl-D
        for await key in keys where endKeys.contains(key) { return }
    }

    private static var size: (width: Int, height: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    private static var now: Double { ProcessInfo.processInfo.systemUptime }
}
