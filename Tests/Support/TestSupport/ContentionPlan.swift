/// What many processes do to one vault at the same time. They and the test that checks the result all know it.
package struct ContentionPlan: Sendable {
    package var processes: Int
    package var threads: Int
    package var itemsPerThread: Int
    package var counters: Int

    package init(processes: Int, threads: Int, itemsPerThread: Int, counters: Int) {
        self.processes = processes
        self.threads = threads
        self.itemsPerThread = itemsPerThread
        self.counters = counters
    }

    /// The service of the items that every thread tries to add.
    package static let contested = "contested"

    package func service(process: Int, thread: Int) -> String { "own \(process) \(thread)" }

    package func arguments(path: String, process: Int) -> [String] {
        ["contend", path] + [processes, threads, itemsPerThread, counters, process].map(String.init)
    }

    /// The accounts and values that each thread leaves in the vault.
    package var itemsLeft: [String: String] {
        var left: [String: String] = [:]
        for number in 0..<itemsPerThread {
            switch number % 5 {
            case 0: continue
            case 1: left["\(number)"] = "second \(number)"
            case 2: left["renamed \(number)"] = "first \(number)"
            default: left["\(number)"] = "first \(number)"
            }
        }
        return left
    }
}
