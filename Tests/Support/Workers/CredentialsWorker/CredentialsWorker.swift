import Credentials
import Foundation
import Glibc
import Keychain

/// What tests of signing in run as another process of an app. Reports on standard output.
@main struct CredentialsWorker {
    private static let service = "com.example.worker"
    private static let tokens = Keychain(service: service + ".tokens")

    /// - Command line: what to do, the app's data folder, and for `interleave` how often.
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count >= 2 else { exit(64) }
        do {
            let auth = try controller(arguments[1])
            switch arguments[0] {
            case "interleave": try await interleave(auth, Int(arguments[2]) ?? 0)
            case "watch": try await watch(auth)
            case "show": emit(try await state(auth))
            case "fill": try await fill(auth)
            default: exit(64)
            }
        } catch {
            emit("error \(error)")
            exit(1)
        }
    }

    private static func emit(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        guard Glibc.write(1, bytes, bytes.count) == bytes.count else { exit(65) }
    }

    /// Its closure tells when it runs in two processes at once.
    private static func controller(_ folder: String) throws -> AuthController {
        try AuthController(
            service: service, others: [tokens], preferences: service, marker: URL(filePath: folder + "/installed"),
            hasher: PasswordHasher(cost: .init(memoryKiB: 64, passes: 1))
        ) {
            let descriptor = open(folder + "/leaving", O_WRONLY | O_CREAT | O_EXCL, 0o600)
            guard descriptor >= 0 else { return emit("two at once") }
            close(descriptor)
            unlink(folder + "/leaving")
        }
    }

    /// Who is signed in, and whose hashes and tokens there are.
    private static func state(_ auth: AuthController) async throws -> String {
        let user = auth.currentUser?.account ?? "nobody"
        let hashes = try await auth.keychain.items().map(\.account)
        let tokens = try await tokens.items().count
        return ([user] + hashes + ["\(tokens)"]).joined(separator: " ")
    }

    private static func interleave(_ auth: AuthController, _ count: Int) async throws {
        let password = try SignInPassword("correct horse")
        emit("begins")
        _ = readLine()
        for _ in 0..<count {
            if Int.random(in: 0..<3) == 0 {
                try await auth.signOut()
            } else {
                try await auth.signIn(.init(account: "\(Int.random(in: 0..<4))@example.com"), password: password)
            }
        }
        emit("done")
    }

    /// Says at the end of its input how many hashes there were at most.
    private static func watch(_ auth: AuthController) async throws {
        emit("begins")
        var (most, byte) = (0, UInt8(0))
        _ = fcntl(0, F_SETFL, O_NONBLOCK)
        while read(0, &byte, 1) != 0 { most = max(most, try await auth.keychain.items().count) }
        emit("\(most)")
    }

    /// Signs in, and says what becomes of another sign-in, and of signing out, when no file may be as long as the
    /// preferences are: what a full disk does.
    private static func fill(_ auth: AuthController) async throws {
        let password = try SignInPassword("correct horse")
        guard let defaults = UserDefaults(suiteName: service) else { exit(66) }
        // Longer than the files of the vault.
        defaults.set(Data(repeating: 7, count: 1 << 20), forKey: "photo")
        defaults.synchronize()
        try await auth.signIn(.init(account: "ada"), password: password)
        emit(try await state(auth))

        signal(SIGXFSZ, SIG_IGN)
        let kind = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
        var limit = rlimit()
        getrlimit(kind, &limit)
        limit.rlim_cur = 1 << 20
        setrlimit(kind, &limit)
        do {
            try await auth.signIn(.init(account: "bob"), password: password)
        } catch CredentialsError.Code.file {
            emit("bob is refused")
        }
        do {
            try await auth.signOut()
        } catch CredentialsError.Code.file {
            emit("ada stays")
        }
        emit(try await state(auth))
        try await auth.confirm(password)

        limit.rlim_cur = limit.rlim_max
        setrlimit(kind, &limit)
        try await auth.signIn(.init(account: "bob"), password: password)
        emit(try await state(auth))
        defaults.synchronize()
        emit("\(defaults.data(forKey: "photo")?.count ?? 0)")
    }
}
