import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

/// What programs do to files, at random.
@Suite struct RandomOperationsTests {
    @Test func filesAreWhatWasWritten() throws {
        let mount = try MountUnderTest()
        let steps = TestScale.count(100, soak: 50_000)
        let seed = SeededGenerator().seed
        let failures = Mutex<[any Error]>([])
        let results = Mutex<[String: [UInt8]]>([:])
        let counts = Mutex<[String: Int]>([:])
        let point = mount.point
        // Several at a time: the kernel and the process of the mount have several threads, too.
        DispatchQueue.concurrentPerform(iterations: 3) { number in
            do {
                let exercise = try FileExercise("\(point)/file-\(number)", seed: seed &+ UInt64(number))
                for _ in 0..<steps where failures.withLock({ $0.isEmpty }) { try exercise.step() }
                let model = try exercise.finish()
                results.withLock { $0["file-\(number)"] = model }
                counts.withLock { $0.merge(exercise.counts) { $0 + $1 } }
            } catch {
                failures.withLock { $0.append(error) }
            }
        }
        for failure in failures.withLock({ $0 }) { Issue.record("\(failure)") }
        try mount.unmount()
        try mount.mount()
        for (name, model) in results.withLock({ $0 }) {
            #expect(try mount.contents(name) == model, "\(name), seed \(seed)")
        }
        let done = counts.withLock { $0 }
        print("random operations, seed \(seed): \(done.sorted { $0.key < $1.key })")
        #expect(done.values.reduce(0, +) > 50)
        #expect(done.count == 10)
    }
}
