/// The pace of attempts to connect (class reference: `retryDelay`, `firstRetryMaxDelay`).
///
/// An attempt is a creation, a bind, a poll or a recovery. The one that follows the loss of a connection that worked
/// starts after a short random time; each one that follows an attempt which failed before its connection was stable
/// starts at least the retry delay after the start of that attempt. No sequence of failures becomes a loop without
/// pauses in this way, whatever the server answers in between.
struct AttemptPace {
    /// This many binds in succession may end without an event and at once.
    private static let hastyLoops = 5
    /// A bind that is followed by the next one within this time is hasty.
    private static let hastyTime = Duration.milliseconds(200)
    /// The time between binds that follow a `LOOP`, on average, whatever they carry.
    private static let loopSpacing = Duration.milliseconds(10)
    /// The time by which binds may be ahead of the average: 100 binds may follow each other at once.
    private static let loopCredit = Duration.seconds(1)

    private var base: Duration
    private var backoff: RetryBackoff
    /// When the last attempt began.
    private var lastStart = Moment.zero
    /// When the last bind or poll began.
    private var bindStart = Moment.zero
    /// When a bind succeeded first, since the last failure.
    private var boundSince: Moment?
    /// When the last short pause began.
    private var lastShortPause: Moment?
    private var isLastPauseLong = false
    /// When the last stable connection was lost; nil after a connection became stable, and without a session.
    private var interruptedSince: Moment?
    private var loops = 0
    private var processedAtLoop = 0
    /// When the binds that followed a `LOOP` so far would have begun if each had kept the average time.
    private var evenLoops = Moment.zero
    /// The pause between the last failure and the attempt after it; nil: nothing has failed yet.
    private(set) var lastPause: Duration?
    /// Whether the connection has proved to work since the last failure.
    private(set) var isStable = false
    /// Whether a connection of the present session has ever been stable.
    private(set) var wasSessionStable = false

    init(retryDelay: Duration) {
        base = retryDelay
        backoff = RetryBackoff(delay: retryDelay)
    }

    /// `connect()`, or the client was disconnected.
    mutating func reset(to retryDelay: Duration) {
        let pause = lastPause
        self = AttemptPace(retryDelay: retryDelay)
        lastPause = pause
    }

    /// The option `retryDelay` was set.
    mutating func delayChanged(to retryDelay: Duration) {
        base = retryDelay
        backoff.reset(to: retryDelay)
    }

    // MARK: - Events

    mutating func attemptStarted(at now: Moment) {
        lastStart = now
        bindStart = now
    }

    /// The time since the last attempt began.
    func age(at now: Moment) -> Duration { now - lastStart }

    /// A poll begins on a connection that is open; its failure counts from the opening of the connection.
    mutating func pollStarted(at now: Moment) { bindStart = now }

    /// The session is bound to a connection.
    mutating func bound(at now: Moment) { boundSince = boundSince ?? now }

    /// The connection carried a data notification or a keepalive.
    mutating func proved() {
        isStable = true
        wasSessionStable = true
        interruptedSince = nil
        backoff.reset(to: base)
    }

    /// The session is over: the time for recoveries begins anew with the next one.
    mutating func sessionEnded() {
        boundSince = nil
        interruptedSince = nil
        wasSessionStable = false
        loops = 0
        processedAtLoop = 0
    }

    // MARK: - Pauses

    /// The connection of a session failed. Returns when the session was interrupted first, since its last stable
    /// connection.
    mutating func interrupted(at now: Moment) -> Moment {
        noteAge(at: now)
        let since = interruptedSince ?? now
        interruptedSince = since
        return since
    }

    /// Whether the connection that failed was stable.
    mutating func wasStable(at now: Moment) -> Bool {
        noteAge(at: now)
        return isStable
    }

    /// An attempt failed, or a connection was lost. Returns the pause before the next attempt. The short pause is
    /// granted once after a stable connection, and not twice within the retry delay.
    mutating func pause(_ wait: RetryWait, at now: Moment, firstRetryMaxDelay: Duration, random: Double) -> Duration {
        noteAge(at: now)
        let wasStable = isStable
        isStable = false
        boundSince = nil
        let mayBeShort = lastShortPause.map { now - $0 >= base } ?? true
        isLastPauseLong = wait != .firstRetry || !wasStable || !mayBeShort
        if !isLastPauseLong { lastShortPause = now }
        let long = backoff.delay.remaining(after: now - lastStart)
        let pause = isLastPauseLong ? long : firstRetryMaxDelay.randomShare(random: random)
        lastPause = pause
        return pause
    }

    /// The next attempt follows a failure at once.
    mutating func pauseOmitted() { lastPause = .zero }

    /// A pause is over; the retry delay grows with the number of such pauses.
    mutating func pauseEnded() { if isLastPauseLong { backoff.increase() } }

    /// `LOOP` arrived after this number of data notifications in the session; the next bind is due `delay` after the start
    /// of the last one, which `isOwn` says to be the interval of the user. Returns the time until the next bind: a server
    /// that sends a line before each `LOOP` does not set the pace either.
    mutating func looped(processed: Int, delay: Duration, isOwn: Bool, at now: Moment) -> Duration {
        let age = now - bindStart
        let isHasty = !isOwn && processed == processedAtLoop && age + delay < Self.hastyTime
        processedAtLoop = processed
        loops = isHasty ? min(loops + 1, Self.hastyLoops + 1) : 0
        let least = loops > Self.hastyLoops ? max(delay, base) : delay
        return max(least.remaining(after: age), loopedEvenly(at: now))
    }

    /// A bind follows a `LOOP`. Returns the time by which it would be too far ahead of the average.
    mutating func loopedEvenly(at now: Moment) -> Duration {
        evenLoops = max(evenLoops, now) + Self.loopSpacing
        return Self.loopCredit < evenLoops - now ? evenLoops - now - Self.loopCredit : .zero
    }

    /// A connection that lived for the retry delay is stable as well.
    private mutating func noteAge(at now: Moment) { if let boundSince, now - boundSince >= base { proved() } }
}
