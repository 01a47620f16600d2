import Foundation
import Glibc
import TestSupport
import Testing

/// A workplace with `libkeychain-pkcs11.so` as `$MODULE`, and some words for scripts that use it.
struct TokenPlace {
    let workplace: Workplace

    init() throws { workplace = try Workplace() }

    /// The library, linked from the objects of this build as `make install` links it, once in this process.
    static func library() throws -> String { try built.get().folder.path(of: "libkeychain-pkcs11.so") }

    private static let built = Result { () throws -> Built in
        let folder = try TemporaryFolder()
        // Programs of other users load it, too.
        chmod(folder.path, 0o755)
        let objects = URL(filePath: Worker.executable).deletingLastPathComponent().path
        let script = Repository.file("Scripts/install/pkcs11.sh").path
        let outcome = try ProgramStart([script, objects, folder.path(of: "libkeychain-pkcs11.so")]).run()
        guard outcome.status == 0 else { throw LinkError(output: outcome.text + outcome.errors) }
        return Built(folder: folder)
    }

    private struct Built { let folder: TemporaryFolder }

    private struct LinkError: Error { let output: String }

    private static let peer =
        URL(filePath: #filePath).deletingLastPathComponent().path + "/Peer/pkcs11_peer.py"

    /// A code block of Documentation/Use/PKCS11.md, with the paths of this place.
    static func block(_ start: String) throws -> String {
        let text = try String(contentsOf: Repository.file("Documentation/Use/PKCS11.md"), encoding: .utf8)
        let blocks = text.split(separator: /\n *```/).map { $0.drop { $0 != "\n" }.dropFirst() }
        // A block in a list is indented.
        let found = blocks.first { $0.drop { $0 == " " }.hasPrefix(start) }
        let block = try #require(found, "the page has no block that begins with '\(start)'")
        let indentation = block.prefix { $0 == " " }
        return try block.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.hasPrefix(indentation) ? $0.dropFirst(indentation.count) : $0 }.joined(separator: "\n").replacing(
                "/usr/lib/pkcs11/libkeychain-pkcs11.so", with: library()
            ).appending("\n")
    }

    /// The lines of a script that make an authority, `ca.crt`, and the words to have it certify keys.
    static let authority = #"""
        openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -subj /CN=authority 2>>log
        # issue NAME USAGE: NAME.crt for NAME.csr, where the usage is `server` or `client`.
        issue() {
            openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -out "$1.crt" -extfile \
                <(printf 'keyUsage=digitalSignature\nextendedKeyUsage=%sAuth\nsubjectAltName=DNS:localhost' "$2") 2>>log
        }
        # certify KEY USAGE: makes a certificate for a key, and stores it.
        certify() {
            keychain key csr "$1" --subject "CN=$1" > "$1.csr"; issue "$1" "$2"; keychain import "$1.crt" --label "$1" >>log
        }

        """#

    /// Runs a script in the workplace. The vault is a folder, and the module starts its helper.
    func shell(_ script: String, seconds: Int = 150) throws -> ProgramOutcome {
        let file = workplace.path + "/script.sh"
        try FolderContents.write(Data(try (prelude() + script).utf8), to: file)
        return try workplace.shell("timeout \(seconds) bash '\(file)'; echo \"status $?\" >&2")
    }

    /// Runs a script while a daemon for all users serves `$HOME/served`.
    ///
    /// - Parameter isInstalled: Whether the daemon has as few rights as the installed unit gives it: another user, no
    ///   capabilities, Landlock. It cannot see the executables of other users' programs.
    func served(
        entitlements: String, isInstalled: Bool = false, _ script: String, seconds: Int = 150
    ) throws -> ProgramOutcome {
        let rights =
            #"""
            rights=(setpriv --reuid nobody --regid nogroup --clear-groups --inh-caps -all --bounding-set -all)
            options=--landlock
            # Programs believe the daemon of another user at this place alone.
            [ "${inside-}" ] || inside=1 exec unshare -m bash "$0"
            mount -t tmpfs -o mode=755 tmpfs /run; mkdir /run/keychain; mkdir -m 700 served; chmod 711 .
            chown nobody /run/keychain served daemon.log entitlements.json
            export KEYCHAIN_SOCKET=/run/keychain/socket

            """#
        return try shell(servedScript(entitlements: entitlements, script, isInstalled ? rights : ""), seconds: seconds)
    }

    /// Runs the same at a terminal.
    func servedAtTerminal(entitlements: String, _ script: String) throws -> Pseudoterminal {
        let file = workplace.path + "/script.sh"
        let text = try prelude() + servedScript(entitlements: entitlements, script)
        try FolderContents.write(Data(text.utf8), to: file)
        return try Pseudoterminal(workplace, ["/usr/bin/timeout", "--foreground", "150", "/bin/bash", file])
    }

    private func servedScript(entitlements: String, _ script: String, _ rights: String = "") throws -> String {
        let file = workplace.path + "/entitlements.json"
        try FolderContents.write(Data(entitlements.utf8), to: file)
        return
            #"""
            unset KEYCHAIN_HOME; export KEYCHAIN_SOCKET="$HOME/sockets/socket"; daemon=
            rights=(); options=; touch daemon.log
            \#(rights)begin() {
                "${rights[@]}" keychaind $options --system --socket "$KEYCHAIN_SOCKET" --home "$HOME/served" --no-lock-signals \
                    --entitlements "$HOME/entitlements.json" 2>>daemon.log & daemon=$!
                until keychain status >/dev/null 2>&1; do
                    kill -0 $daemon || { cat daemon.log >&2; exit 99; }; sleep 0.05
                done
            }
            end() { { kill $daemon; wait $daemon; } 2>/dev/null; }
            trap end EXIT; begin

            """# + script
    }

    private func prelude() throws -> String {
        try #"""
        set -u; cd "$HOME"; export MODULE='\#(Self.library())' PATH="$PATH:/usr/sbin"
        mkdir -p -m 700 run; export XDG_RUNTIME_DIR="$HOME/run"
        keyid() { keychain key info "$1" --json | sed 's/.*"hash":"\([0-9a-f]*\)".*/\1/'; }
        uri() { keychain key uri "$1"; }
        # What programs say besides their result is on standard error.
        tool() { pkcs11-tool --module "$MODULE" "$@" 2>>tool.log; }
        peer() { "${peer_python:-/usr/bin/python3}" -B '\#(Self.peer)' "$MODULE" "$@"; }
        # Repeats a command until it succeeds.
        eventually() { n=0; until "$@"; do n=$((n+1)); [ $n -lt 300 ] || return 1; sleep 0.1; done; }
        port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
        # Ends a program that the script started.
        stop() { { kill "$1"; wait "$1"; } 2>/dev/null; }
        printf text > text

        """#
    }

    /// Compares what a script printed with these lines.
    func expect(
        _ outcome: ProgramOutcome, _ lines: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(
            Transcript.matches(Transcript.lines(outcome.text), lines), "\(outcome.text)\(outcome.errors)",
            sourceLocation: sourceLocation)
    }
}
