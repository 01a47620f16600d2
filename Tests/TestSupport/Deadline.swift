import Foundation
import Glibc

/// Runs `body`, and ends the process with a message if that takes longer than `seconds`: a hang must
/// not look like a slow test.
package func withDeadline<Result>(
    _ seconds: Int = 30, _ what: @autoclosure () -> String, _ body: () throws -> Result
) rethrows -> Result {
    let message = "no answer after \(seconds) s: \(what())\n"
    let alarm = DispatchWorkItem {
        FileHandle.standardError.write(Data(message.utf8))
        abort()
    }
    DispatchQueue.global(qos: .userInteractive).asyncAfter(deadline: .now() + .seconds(seconds), execute: alarm)
    defer { alarm.cancel() }
    return try body()
}
