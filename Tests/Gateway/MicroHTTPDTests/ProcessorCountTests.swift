internal import Testing

@testable import MicroHTTPD

@Suite struct ProcessorCountTests {
    @Test(arguments: [
        ("200000 100000\n", 2), ("150000 100000\n", 1), ("50000 100000\n", 1), ("max 100000\n", nil), ("", nil),
        ("1 0", nil), ("-1 100000", nil), ("99999999999999999999 1", nil),
    ])
    func quotaLimitsTheProcessors(text: String, processors: Int?) {
        #expect(ProcessorCount.processors(text) == processors)
    }

    @Test func quotasOfAllGroupsCount() {
        #expect(
            ProcessorCount.quotaFiles(of: "1:cpu:/old\n0::/a/b\n")
                == ["/sys/fs/cgroup/a/b/cpu.max", "/sys/fs/cgroup/a/cpu.max", "/sys/fs/cgroup/cpu.max"]
        )
        #expect(ProcessorCount.quotaFiles(of: "0::/\n") == ["/sys/fs/cgroup/cpu.max"])
        #expect(ProcessorCount.quotaFiles(of: "1:cpu:/old\n").isEmpty)
    }

    @Test(arguments: [("Cpus_allowed:\tff,ffffffff\n", 40), ("A:\t1\nCpus_allowed:\t5\n", 2), ("", 1)])
    func maskCountsTheProcessors(status: String, processors: Int) {
        #expect(ProcessorCount.allowed(status) == processors)
    }

    @Test func thereIsAtLeastOneProcessor() {
        #expect(ProcessorCount.available() >= 1)
    }
}
