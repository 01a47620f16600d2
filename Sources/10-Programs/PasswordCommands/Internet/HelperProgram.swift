import CLibrary
import CommandKit
import FoundationEssentials
import StatusCodes

/// The programs that git, docker, cargo and ssh start for credentials: this program under other names.
package enum HelperProgram: String, CaseIterable {
    case git = "git-credential-keychain"
    case docker = "docker-credential-keychain"
    case cargo = "cargo-credential-keychain"
    case askpass = "keychain-askpass"

    /// - Parameter arguments: Without the program's name.
    /// - Returns: The exit status.
    package func run(_ arguments: [String]) -> Int32 {
        do {
            switch self {
            case .git: try GitCredential.run(arguments)
            case .docker: try DockerCredential.run(arguments)
            case .cargo: try CargoCredential.run(arguments)
            case .askpass: try Askpass.run(arguments)
            }
            return 0
        } catch  where self == .docker {
            // Docker and podman show what a helper writes to standard output.
            try? StandardOutput.write(line: Failure(error).message)
            return ExitStatus.other
        } catch {
            var failure = Failure(error)
            failure.noteOtherTool()
            return failure.report(asJSON: false)
        }
    }

    /// Reads all of standard input.
    static func input() throws -> Data {
        do throws(DescriptorReader.Failure) {
            return try DescriptorReader.readAll(0, limit: 1 << 20)
        } catch {
            throw Failure(
                status: errSecIO, exitCode: ExitStatus.other,
                "the request cannot be read from standard input, or is longer than 1 MiB")
        }
    }
}
