import Foundation
import TestSupport
import Testing

/// Scripts that were written for macOS's `security`, as they are.
@Suite struct MacScriptTests {
    private let workplace: Workplace

    init() throws { workplace = try Workplace() }

    /// Makes the certificate of a developer, `build_certificate.p12`, under an authority, `ca.pem`.
    private static let certificate = #"""
        openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj /CN=TestCA -days 30 \
            -addext keyUsage=critical,keyCertSign 2>/dev/null
        openssl req -newkey rsa:2048 -nodes -keyout dev.key -out dev.csr -subj "/CN=Developer ID: Alice" 2>/dev/null
        printf 'extendedKeyUsage=codeSigning,emailProtection\n' > ext
        openssl x509 -req -in dev.csr -CA ca.pem -CAkey ca.key -out dev.pem -days 20 -extfile ext 2>/dev/null
        openssl pkcs12 -export -inkey dev.key -in dev.pem -certfile ca.pem -out build_certificate.p12 \
            -passout pass:phrase
        """#

    /// The commands of "Installing an Apple certificate on macOS runners for Xcode development" (docs.github.com), and
    /// then a signature with the identity.
    private static let script = #"""
        set -e
        export RUNNER_TEMP="$HOME/temp" KEYCHAIN_PASSWORD='pass "word' P12_PASSWORD=phrase
        mkdir $RUNNER_TEMP; cp build_certificate.p12 $RUNNER_TEMP

        CERTIFICATE_PATH=$RUNNER_TEMP/build_certificate.p12
        KEYCHAIN_PATH=$RUNNER_TEMP/app-signing.keychain-db

        # create temporary keychain
        security create-keychain -p "$KEYCHAIN_PASSWORD" $KEYCHAIN_PATH
        security set-keychain-settings -lut 21600 $KEYCHAIN_PATH
        security unlock-keychain -p "$KEYCHAIN_PASSWORD" $KEYCHAIN_PATH

        # import certificate to keychain
        security import $CERTIFICATE_PATH -P "$P12_PASSWORD" -A -t cert -f pkcs12 -k $KEYCHAIN_PATH
        security set-key-partition-list -S apple-tool:,apple: -k "$KEYCHAIN_PASSWORD" $KEYCHAIN_PATH
        security list-keychain -d user -s $KEYCHAIN_PATH

        security find-identity -v -p codesigning
        echo program > program
        security cms -S -T -N "Developer ID: Alice" -i program -o program.sig
        openssl cms -verify -binary -inform DER -in program.sig -content program -CAfile ca.pem -out /dev/null 2>&1
        security export -k $KEYCHAIN_PATH -t identities -f pkcs12 -P out -o out.p12
        openssl pkcs12 -in out.p12 -passin pass:out -nodes -out out.pem
        openssl cms -sign -nodetach -in program -signer out.pem -outform DER -out other.sig
        openssl cms -verify -inform DER -in other.sig -CAfile ca.pem -out /dev/null 2>&1

        # clean up
        security delete-keychain $RUNNER_TEMP/app-signing.keychain-db
        ls -A $RUNNER_TEMP
        security list-keychains
        """#

    private static let outcome = """
        1 identity imported.
        1 certificate imported.
          1) ... "Developer ID: Alice"
             1 valid identities found
        CMS Verification successful
        CMS Verification successful
        build_certificate.p12
        """

    private func expect(_ outcome: ProgramOutcome, _ text: String, status: Int32 = 0) {
        let lines = text.split(separator: "\n").map(String.init)
        let place = Comment(rawValue: outcome.text + outcome.errors)
        #expect(Transcript.matches(Transcript.lines(outcome.text), lines), place)
        #expect(outcome.status == status, place)
    }

    @Test func theSigningScriptOfGitHubRuns() throws {
        let outcome = try workplace.shell(
            "\(Self.certificate)\nsecurity add-trusted-cert ca.pem\n\(Self.script)")
        expect(outcome, Self.outcome + "\n    \"\(workplace.home)\"")
    }

    @Test func theSigningScriptOfGitHubRunsBesideADaemon() throws {
        let outcome = try workplace.shell(
            """
            unset KEYCHAIN_HOME; export KEYCHAIN_SOCKET="$HOME/run/socket"
            keychaind --home "$HOME/served" --entitlements "$HOME/none" --no-lock-signals --log error \\
                --socket "$KEYCHAIN_SOCKET" & daemon=$!
            trap '{ kill $daemon; wait $daemon; } 2>/dev/null' EXIT
            until keychain list >/dev/null 2>&1; do kill -0 $daemon || exit 99; sleep 0.1; done
            \(Self.certificate)
            security add-trusted-cert ca.pem
            \(Self.script)
            """)
        expect(outcome, Self.outcome + "\n    \"\(workplace.path)/served\"")
    }

    /// A function that prints the process of the `keychaind` that keeps a keychain unlocked.
    private static let keeper = #"""
        keeper() {
            for process in /proc/[0-9]*; do
                case $(tr '\0' ' ' <$process/cmdline) in
                "keychaind --home $HOME/home-keychains/$1 "*) echo "${process#/proc/}" ;;
                esac
            done 2>/dev/null
        }
        """#

    @Test func aKeychainLocksAfterItsTimeAndItsDaemonEnds() throws {
        let outcome = try workplace.shell(
            """
            \(Self.keeper)
            security create-keychain -p secret build.keychain
            test -n "$(keeper build.keychain-db)" && echo kept
            security set-keychain-settings -t 1 build.keychain
            while [ -n "$(keeper build.keychain-db)" ]; do sleep 0.1; done
            security show-keychain-info build.keychain 2>/dev/null; echo $?
            security set-keychain-settings build.keychain
            security unlock-keychain -p secret build.keychain
            security show-keychain-info build.keychain 2>&1
            """)
        expect(outcome, "kept\n36\nKeychain \"...build.keychain-db\" no-timeout")
    }

    @Test func aKeychainWhoseDaemonWasKilledIsLockedAndIsUnlockedAgain() throws {
        let outcome = try workplace.shell(
            """
            \(Self.keeper)
            security create-keychain -p secret build.keychain
            security add-generic-password -s svc -a alice -w inside build.keychain
            kill -9 "$(keeper build.keychain-db)"
            while [ -n "$(keeper build.keychain-db)" ]; do sleep 0.1; done
            security find-generic-password -s svc -w build.keychain 2>/dev/null; echo $?
            security unlock-keychain -p secret build.keychain
            security find-generic-password -s svc -w build.keychain
            security delete-keychain build.keychain
            keeper build.keychain-db
            """)
        expect(outcome, "36\ninside")
    }

    @Test func twoProcessesDoNotMakeTheSameKeychain() throws {
        let outcome = try workplace.shell(
            """
            (security create-keychain -p one build.keychain 2>/dev/null; echo $? > one) & first=$!
            (security create-keychain -p two build.keychain 2>/dev/null; echo $? > two) & second=$!
            wait $first $second
            sort one two
            case $(cat one) in 0) password=one ;; *) password=two ;; esac
            security lock-keychain build.keychain
            security unlock-keychain -p $password build.keychain && echo unlocked
            ls -A home-keychains
            """)
        expect(outcome, "0\n48\nunlocked\nbuild.keychain-db\nlock\nsearch-list")
    }

    @Test func aCreationThatIsKilledLeavesNoKeychain() throws {
        let outcome = try workplace.shell(
            """
            security create-keychain -p secret build.keychain & process=$!
            until [ -e home-keychains/.build.keychain-db.new ]; do kill -0 $process || exit 99; done
            kill -9 $process; wait $process 2>/dev/null
            ls -A home-keychains; security list-keychains
            security unlock-keychain -p secret build.keychain 2>/dev/null; echo $?
            security create-keychain -p secret build.keychain; echo $?
            security unlock-keychain -p secret build.keychain; echo $?
            ls -A home-keychains
            """)
        expect(
            outcome,
            """
            .build.keychain-db.new
            lock
                "\(workplace.home)"
            50
            0
            0
            build.keychain-db
            lock
            search-list
            """)
    }
}
