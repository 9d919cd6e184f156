import Testing

@testable import Gateway

// How many processors the process may use, by what the kernel says in files.
@Suite("The processors that the process may use")
struct AvailableProcessorsTests {
  private func count(_ files: [String: String]) -> Int? { AvailableProcessors.count { files[$0] } }

  private func status(_ mask: String) -> String { "Name:\tcordon\nCpus_allowed:\t\(mask)\nCpus_allowed_list:\t0-3\n" }

  @Test(
    "The processors of the affinity mask are counted",
    arguments: [("1", 1), ("3", 2), ("ff", 8), ("80000000,00000001", 2), ("ffffffff,ffffffff", 64)])
  func affinity(mask: String, expected: Int) {
    #expect(count(["/proc/self/status": status(mask)]) == expected)
  }

  @Test("The quota of version 2 is rounded up, the least of those above it counts, and none is no limit")
  func version2() {
    var files = ["/proc/self/status": status("ff"), "/proc/self/cgroup": "0::/a.slice/b.service\n"]
    #expect(count(files) == 8)
    files["/sys/fs/cgroup/a.slice/b.service/cpu.max"] = "max 100000\n"
    #expect(count(files) == 8)
    files["/sys/fs/cgroup/a.slice/cpu.max"] = "250000 100000\n"
    #expect(count(files) == 3)
    files["/sys/fs/cgroup/a.slice/b.service/cpu.max"] = "20000 100000\n"
    #expect(count(files) == 1)
    // As a container sees its own group.
    files = [
      "/proc/self/status": status("ff"), "/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/cpu.max": "150000 100000",
    ]
    #expect(count(files) == 2)
    files["/sys/fs/cgroup/cpu.max"] = "99999999999 1\n"
    #expect(count(files) == 8)
  }

  @Test("The quota of version 1 is found by its controller, at either mount")
  func version1() {
    for mount in ["cpu", "cpu,cpuacct"] {
      let files = [
        "/proc/self/status": status("ff"), "/proc/self/cgroup": "5:memory:/x\n3:cpu,cpuacct:/docker/1\n0::/\n",
        "/sys/fs/cgroup/\(mount)/cpu.cfs_quota_us": "300000\n", "/sys/fs/cgroup/\(mount)/cpu.cfs_period_us": "100000\n",
      ]
      #expect(count(files) == 3)
      #expect(count(files.merging(["/sys/fs/cgroup/\(mount)/cpu.cfs_quota_us": "-1\n"]) { $1 }) == 8)
    }
  }

  @Test("A limit that makes no sense is ignored, and there is always one processor")
  func nonsense() {
    #expect(count([:]) == nil)
    #expect(count(["/proc/self/status": "Cpus_allowed:\t0\n"]) == 1)
    let files = ["/proc/self/status": status("f"), "/proc/self/cgroup": "x\n0::/\n:::\n"]
    for quota in ["", "0 0", "-5 100000", "100000", "a b", "100000 0"] {
      #expect(count(files.merging(["/sys/fs/cgroup/cpu.max": quota]) { $1 }) == 4, "\(quota)")
    }
  }
}
