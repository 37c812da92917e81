import TestSupport

@testable import GatewayCluster

/// The faults of a schedule.
extension Simulation {
    func perform(_ step: Schedule.Step) {
        simulator.run(for: .milliseconds(step.pause))
        let (present, length) = (alive, Duration.milliseconds(step.length))
        let gateway = present[step.choice % present.count]
        switch step.fault {
        case .kill: replace(gateway) { kill(gateway) }
        case .leave:
            replace(gateway) {
                gateway.leave()
                simulator.run(for: .seconds(1))
                kill(gateway)
            }
        case .join: if present.count < 5 { start() }
        case .pause:
            gateway.pause()
            simulator.run(for: length)
            gateway.resume()
            recover(within: 4)
        case .engineCut:
            engine.cut(gateway.number)
            simulator.run(for: length)
            engine.admit(gateway.number)
        case .engineStop: withoutEngine(length) {}
        case .engineRestore: losing { withoutEngine(length) { engine.rollBack(by: step.choice * 4 + 1) } }
        case .engineEmpty: losing { withoutEngine(length) { engine.empty() } }
        case .engineLoseTail, .engineRecreate, .engineLie, .engineMissing, .engineRepeat, .engineEcho, .engineStale:
            deceive(step, gateway, length)
        case .upstreamCut:
            server.refuse(gateway.number)
            simulator.run(for: length)
            server.admit(gateway.number)
        case .upstreamBreak: server.cut(gateway.number)
        }
    }

    /// Replaces a process; what it alone knew has to be known to others before the next one is replaced.
    private func replace(_ gateway: SimulatedGateway, _ body: () -> Void) {
        start()
        recover(within: 5)
        body()
        recover(within: 5)
    }

    /// Waits for the frames that show a lie, and until all processes have the present state of the cluster.
    private func recoverFromLie(after seconds: Int, within most: Int) {
        let appends = engine.appends
        simulator.run(upTo: .seconds(20)) { engine.appends >= appends + 2 }
        recover(after: seconds, within: most)
    }

    /// Waits until all processes have the present state of the cluster.
    private func recover(after seconds: Int = 0, within most: Int) {
        simulator.run(for: .seconds(seconds))
        simulator.run(upTo: .seconds(most - seconds)) { isSettled }
    }

    private func withoutEngine(_ time: Duration, _ body: () -> Void) {
        engine.stop()
        simulator.run(for: time)
        body()
        engine.start()
        recover(within: 6)
    }

    /// Runs a fault by which the engine loses frames. Members report again what they have; what is made or changed meanwhile
    /// may be lost.
    private func losing(showingTwoLogs: Bool = false, _ body: () -> Void) {
        losses += 1
        showsTwoLogs = showingTwoLogs
        body()
        showsTwoLogs = false
        losses += 1
    }

    // MARK: - Lies

    private func deceive(_ step: Schedule.Step, _ gateway: SimulatedGateway, _ length: Duration) {
        let numbers = Set(alive.map(\.number))
        let deceived = [[gateway.number], numbers.subtracting([gateway.number]), numbers][step.length % 3]
        switch step.fault {
        case .engineLoseTail:
            hasTwoLogs = true
            losing(showingTwoLogs: true) {
                engine.rollBack(by: step.choice + 1)
                recoverFromLie(after: 3, within: 8)
            }
        case .engineRecreate:
            hasTwoLogs = true
            losing(showingTwoLogs: true) {
                engine.empty()
                recoverFromLie(after: 6, within: 12)
            }
        case .engineLie:
            let lie = EngineLie.allCases[step.choice % EngineLie.allCases.count]
            // Both orders may fit, until the writers of later frames have read one of them.
            if lie == .otherOrder { hasTwoLogs = true }
            losing(showingTwoLogs: true) {
                engine.lie(lie, to: deceived)
                recoverFromLie(after: 3, within: 8)
            }
        case .engineMissing:
            losing {
                engine.loseNextFrame(for: deceived)
                recoverFromLie(after: 5, within: 10)
            }
        case .engineRepeat:
            engine.repeatFrames(step.choice * 4 + 1)
            recover(after: 1, within: 2)
        case .engineEcho:
            engine.echoes = 300
            simulator.run(for: length)
            engine.echoes = 0
        default:
            let epoch = epoch
            engine.answerFromStaleServer(deceived)
            simulator.run(for: .seconds(1))
            for number in deceived.sorted() {
                engine.cut(number)
                engine.admit(number)
            }
            simulator.run(for: length)
            engine.endStaleness()
            recover(within: 4)
            // If no process could read the newest frames for long, they begin an epoch.
            if deceived == numbers, epoch != self.epoch { hasLostKeys = true }
        }
    }

    /// The epoch of the first process.
    private var epoch: UInt64? { alive.first?.parts?.node.epoch }
}
