import Foundation
import Synchronization
import Testing

/// A Python program that answers many questions in one process, because most of its start-up time goes into loading its
/// modules.
///
/// The script runs again for each question, with other arguments and without any state of the question before. The
/// process ends with its input, and so with the process of the tests, also after a crash.
package final class PythonPeer: Sendable {
    private let script: String
    private let worker: Mutex<Worker>

    /// - Parameters:
    ///   - script: The path of the program.
    ///   - interpreter: The Python with the modules that the program needs.
    package init(_ script: String, interpreter: String = "python3") throws {
        self.script = script
        worker = Mutex(try Worker(["-B", "-c", Self.server, script], command: interpreter))
    }

    /// Returns the output of the program for these arguments.
    ///
    /// - Throws: ``PythonPeerError`` if its status is not 0.
    package func ask(_ arguments: [String]) throws -> String {
        let question = [UInt8](try JSONEncoder().encode(arguments)) + [0x0A]
        let line = worker.withLock { worker in
            worker.send(question)
            return worker.readLine()
        }
        guard let line else { throw PythonPeerError(description: "\(script) has ended") }
        let answer = try JSONDecoder().decode(Answer.self, from: Data(line.utf8))
        guard answer.status == 0 else {
            throw PythonPeerError(
                description: "\(script) \(arguments.first ?? "") ends with \(answer.status): \(answer.output)")
        }
        return answer.output
    }

    private struct Answer: Decodable {
        let status: Int
        let output: String
    }

    private static let server = """
        import contextlib, io, json, sys, traceback
        script = sys.argv[1]
        with open(script) as file: code = compile(file.read(), script, "exec")
        for line in sys.stdin:
            sys.argv, status, output = [script] + json.loads(line), 0, io.StringIO()
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                try: exec(code, {"__name__": "__main__", "__file__": script})
                except SystemExit as end:
                    status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
                    if isinstance(end.code, str): print(end.code)
                except BaseException: status = 1; traceback.print_exc()
            print(json.dumps({"status": status, "output": output.getvalue()}), flush=True)
        """
}

package struct PythonPeerError: Error, CustomStringConvertible {
    package let description: String
}
