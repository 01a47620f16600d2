import Foundation
import Glibc
import TestSupport
import Testing

/// Credentials for units, over the socket that `LoadCredential=` names. The manager is a stand-in that binds the
/// address that systemd binds and reads to the end (exec-credential.c): a service manager is process 1, which a test is
/// not.
@Suite struct UnitCredentialTests {
    private static let manager = #"""
        import socket, sys
        def ask(address, time=10):
            s = socket.socket(socket.AF_UNIX)
            s.settimeout(time)
            s.bind(b'\0' + address)
            s.connect('run/credentials')
            s.shutdown(socket.SHUT_WR)
            got = b''
            try:
                while True:
                    part = s.recv(65536)
                    if not part: return got
                    got += part
            except TimeoutError:
                return 'waits'
        """#

    private func served(_ script: String) throws -> ProgramOutcome {
        let workplace = try Workplace()
        try Data((Self.manager + "\n").utf8).write(to: URL(filePath: workplace.path + "/manager.py"))
        let entitlements = """
            {"version": 1, "rules": [{"unit": "shop.service", "userUnit": "none.service", "groups": ["TEAM.none"]},
                                     {"uid": \(getuid()), "groups": ["TEAM.shared"]}]}
            """
        try Data(entitlements.utf8).write(to: URL(filePath: workplace.path + "/entitlements.json"))
        return try workplace.shell(
            """
            unset KEYCHAIN_HOME; export KEYCHAIN_SOCKET="$HOME/run/socket"
            keychaind --socket "$KEYCHAIN_SOCKET" --home "$HOME/served" --entitlements "$HOME/entitlements.json" \
            --no-lock-signals --credentials 2>daemon.log & daemon=$!
            trap 'kill $daemon; wait $daemon' EXIT
            until keychain list >/dev/null 2>&1; do kill -0 $daemon || exit 99; sleep 0.05; done
            \(script)
            """)
    }

    @Test func aUnitGetsWhatItsGroupsHave() throws {
        let outcome = try served(
            #"""
            printf swordfish | keychain set systemd db --group "$OWN"
            printf shared | keychain set systemd tls --group TEAM.shared
            printf other | keychain set systemd db --group unit:other.service
            head -c 1000000 /dev/zero | keychain set systemd large --group "$OWN" --raw
            /usr/bin/python3 -c "
            from manager import *
            print(ask(b'0123456789abcdef/unit/mail.service/db'), ask(b'0123456789abcdee/unit/mail.service/tls'))
            # One random number in 16 has fewer digits. Other units than services have credentials, too.
            print([ask(b'%s/unit/%s/tls' % (number, unit)) for number, unit in [
                (b'123456789abcdef', b'mail.service'), (b'1', b'mail.socket'), (b'2', b'data.mount'), (b'3', b'a.swap')]])
            print(len(ask(b'0123456789abcdea/unit/mail.service/large')))
            # What cannot be given is no empty credential.
            print([ask(address, 1) for address in [b'0123456789abcded/unit/mail.service/none',
                b'0123456789abcdec/unit/mail/db', b'0123456789abcdeff/unit/mail.service/tls', b'no manager']])"
            grep -c 'no credential .*none.* for mail.service' daemon.log
            """#.replacingOccurrences(of: "\"$OWN\"", with: getuid() == 0 ? "unit:mail.service" : "TEAM.shared"))
        #expect(
            outcome.text.split(separator: "\n").map(String.init) == [
                "b'swordfish' b'shared'", "[b'shared', b'shared', b'shared', b'shared']", "1000000",
                "['waits', 'waits', 'waits', 'waits']", "1",
            ], "\(outcome.errors)")
    }

    @Test func aUnitWaitsUntilTheVaultIsUnlocked() throws {
        let outcome = try served(
            #"""
            printf swordfish | keychain set systemd db --group TEAM.shared
            echo 'long enough' > passcode; keychain passcode set --new-passcode-fd 3 3<passcode 2>/dev/null; keychain lock
            (until grep -q 'a unit waits' daemon.log; do sleep 0.05; done; echo unlocks; keychain unlock --passcode-fd 3 3<passcode) &
            /usr/bin/python3 -c "from manager import *; print(ask(b'0123456789abcdef/unit/mail.service/db'))"; wait $!
            """#)
        #expect(outcome.text.split(separator: "\n") == ["unlocks", "b'swordfish'"], "\(outcome.errors)")
    }

    /// The real systemd, as the manager of a user in a namespace of its own. Only root can start it there.
    @Test(.enabled(if: getuid() == 0, "only root can start a service manager in a namespace")) func systemdItself()
        throws
    {
        let workplace = try Workplace()
        let script = #"""
            mount --make-rprivate /; mount --make-rshared /; mount -t tmpfs tmpfs /run; mkdir -p /run/systemd/system /run/user
            # The manager's group, under which it makes those of its units.
            groups=/sys/fs/cgroup; [ -d $groups/systemd ] && groups=$groups/systemd
            mkdir -p "$groups/$1"; echo $$ > "$groups/$1/cgroup.procs"
            export XDG_RUNTIME_DIR=/run/user KEYCHAIN_SOCKET=/run/user/keychain/socket; chmod 700 /run/user
            unset KEYCHAIN_HOME
            units=$HOME/.config/systemd/user; mkdir -p "$units"
            printf '[Unit]\nDefaultDependencies=no\n' > "$units/nothing.target"
            for name in db none; do cat > "$units/$name.service" <<END
            [Unit]
            DefaultDependencies=no
            [Service]
            Type=oneshot
            TimeoutStartSec=2
            LoadCredential=$name:/run/user/keychain/credentials
            ExecStart=/bin/sh -c 'cp \$CREDENTIALS_DIRECTORY/$name $HOME/got-$name'
            END
            done
            printf '{"version": 1, "rules": [{"unit": "db.service", "groups": ["TEAM.db"]}]}' > entitlements.json
            keychaind --entitlements "$HOME/entitlements.json" --no-lock-signals --credentials 2>daemon.log & daemon=$!
            until keychain list >/dev/null 2>&1; do kill -0 $daemon || { cat daemon.log; exit 99; }; sleep 0.05; done
            printf swordfish | keychain set systemd db --group TEAM.db
            /lib/systemd/systemd --user --unit=nothing.target >/dev/null 2>&1 & manager=$!
            until systemctl --user is-system-running >/dev/null 2>&1; do kill -0 $manager || exit 98; sleep 0.05; done
            # One in 16 random numbers has fewer digits.
            for round in $(seq 40); do rm -f got-db; systemctl --user start db.service; echo "$(cat got-db)"; done | sort | uniq -c
            systemctl --user start none.service 2>/dev/null || echo "not started: $(ls got-none 2>/dev/null)"
            kill $manager $daemon; wait
            """#
        try Data(script.utf8).write(to: URL(filePath: workplace.path + "/script.sh"))
        let group = "keychain-test-\(UUID().uuidString)"
        let outcome = try workplace.shell(
            """
            unshare --mount --pid --fork --mount-proc timeout 100 bash script.sh \(group)
            for folder in /sys/fs/cgroup /sys/fs/cgroup/systemd; do
                find $folder/\(group) -depth -type d -exec rmdir {} + 2>/dev/null
            done
            """)
        #expect(outcome.text == "     40 swordfish\nnot started: \n", "\(outcome.text)\(outcome.errors)")
    }
}
