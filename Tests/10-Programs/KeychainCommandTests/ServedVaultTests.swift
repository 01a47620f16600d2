import Foundation
import TestSupport
import Testing

/// The commands, with a daemon that serves a vault in a folder of its own.
@Suite struct ServedVaultTests {
    private let workplace: Workplace

    init() throws {
        workplace = try Workplace()
    }

    /// Runs commands while `keychaind` serves the vault in `$HOME/served`.
    private func served(_ commands: String) throws -> ProgramOutcome {
        try workplace.shell(
            """
            unset KEYCHAIN_HOME
            daemon() { exec keychaind --home "$HOME/served" --entitlements "$HOME/none" --no-lock-signals --log error "$@"; }
            export KEYCHAIN_SOCKET="$HOME/run/socket"
            daemon --socket "$KEYCHAIN_SOCKET" 2>daemon.log & first=$!
            trap 'end' EXIT; end() { { kill $first; wait $first; } 2>/dev/null; }
            until keychain list >/dev/null 2>&1; do kill -0 $first || exit 99; sleep 0.1; done
            printf secret | keychain set mail alice
            \(commands)
            """)
    }

    private func expect(_ outcome: ProgramOutcome, _ text: String) {
        let lines = text.split(separator: "\n").map(String.init)
        #expect(Transcript.matches(Transcript.lines(outcome.text), lines), "\(outcome.text)\(outcome.errors)")
    }

    /// The largest value travels, too, and the enclave's key opens its file.
    @Test func itemsAreSentAndReceivedThroughTheDaemon() throws {
        let outcome = try served(
            """
            keychain key create mine --enclave; keychain key public mine > mine.pem
            head -c 16777216 /dev/zero | keychain set large a --raw
            keychain send large a --to mine.pem --output f; keychain delete large a
            keychain receive f; keychain get large a | wc -c
            keychain send mail alice --to mine.pem --output g; keychain receive g --check; keychain receive g 2>&1
            echo "status $?"; keychain delete mail alice; keychain receive g --group other; keychain get mail alice --group other
            """)
        expect(
            outcome,
            """
            1 item sealed in .../f: 'large' 'a'
            large\ta\tkeychain
            16777216
            1 item sealed in .../g: 'mail' 'alice'
            mail\talice\tkeychain
            keychain: 'mail' 'alice' is there already, ...
            status 45
            mail\talice\tother
            secret
            """)
    }

    @Test func aRecoveryKeyIsMadeForTheVaultThatIsServed() throws {
        let outcome = try served(
            """
            printf lost | keychain set local alice --accessible when-unlocked-this-device-only
            keychain status | grep recovery
            keychain recovery create > key
            keychain status | grep -E 'recovery|daemon'
            ls served | grep recovery; test -e .local || test -e home || echo no other vault
            end; unset KEYCHAIN_SOCKET; export KEYCHAIN_HOME="$HOME/served"
            rm served/device-secret
            keychain list
            keychain recovery restore < key; echo "status $?"
            keychain recovery restore --yes --key-fd 3 3< key
            keychain list
            """)
        expect(
            outcome,
            """
            recovery  no key: `keychain recovery create`
            recovery  a key since 20...Z
            daemon    answers
            recovery
            no other vault
            status 36
            vault       .../served
            enclave     software
            items lost  1
            passcode    not set: `keychain passcode set`
            mail\talice\tkeychain
            """)
        let errors = outcome.errors.split(separator: "\n")
        try #require(errors.count == 3, "\(outcome.errors)")
        #expect(errors[0].contains("write this key down and lock it away: it is not shown again"))
        #expect(errors[1].contains("device-secret is missing"))
        #expect(errors[1].contains("`keychain recovery restore`"))
        #expect(errors[2].contains("cannot come back and will be deleted: 1 password;"))
    }

    /// Both where a person looks and where the daemon writes.
    @Test func whatAnUnlockingFindsIsSaid() throws {
        let outcome = try served(
            """
            printf right > right
            keychain passcode set --memory 8 --passes 1 --new-passcode-fd 3 3<right 2>/dev/null
            keychain audit --verify | grep -c problem
            keychain lock; printf x >> served/file-agreement-key
            keychain unlock --passcode-fd 3 3<right
            keychain lock; rm served/audit.anchor
            keychain audit --verify 2>/dev/null | grep problem
            keychain unlock --passcode-fd 3 3<right
            keychain lock
            keychain unlock --passcode-fd 3 3<right
            grep -o 'replaced the vault.s file-agreement-key' daemon.log
            grep -o 'changed the audit log' daemon.log
            """)
        expect(
            outcome,
            """
            0
            problem                audit.anchor is missing: somebody removed it
            replaced the vault's file-agreement-key
            changed the audit log
            """)
        let errors = outcome.errors.split(separator: "\n")
        try #require(errors.count == 2, "\(outcome.errors)")
        #expect(errors[0].contains("replaced the vault's file-agreement-key"))
        #expect(errors[1].contains("changed the audit log since the last unlocking"))
    }

    /// Programs use the vault that is served, and another one beside it would hide it.
    @Test func aSecondVaultIsNotMadeByMistake() throws {
        let outcome = try served(
            """
            keychain init --json; keychain init --enclave tpm2; echo "$?"; keychain init --detect-rollback; echo "$?"
            ls -A .local 2>/dev/null; keychain init | grep vault
            export KEYCHAIN_HOME="$HOME/other"; KEYCHAIN_SOCKET= ; unset KEYCHAIN_SOCKET
            keychain init >/dev/null; keychain status | grep daemon; keychain list
            """)
        expect(
            outcome,
            """
            {"enclave":"software","vault":".../served"}
            1
            1
            vault    .../served
            daemon    not asked, because KEYCHAIN_HOME is set
            """)
        let errors = outcome.errors.split(separator: "\n")
        try #require(errors.count == 4, "\(outcome.errors)")
        #expect(errors[0].contains("/served, which was there already: no vault was made; KEYCHAIN_HOME names"))
        #expect(errors[1].contains("/served, and it is in the enclave 'software': no vault was made"))
        #expect(errors[2].contains("/served, and cannot add a counter to it: no vault was made"))
    }

    @Test func aRecoveryKeyMakesNoVault() throws {
        let outcome = try workplace.shell(
            "unset KEYCHAIN_HOME; keychain recovery create; KEYCHAIN_MODE=daemon keychain recovery create; ls -A .local"
        )
        #expect(outcome.text.isEmpty)
        #expect(outcome.errors.contains("there is no vault at"))
        #expect(outcome.errors.contains("no daemon listens at"))
    }

    /// As after an installation beside a daemon that runs, which compares files.
    @Test func aToolThatTheDaemonDoesNotKnowSaysSo() throws {
        let outcome = try served(
            """
            printf 'right\\n' > right; keychain passcode set --json --memory 8 --passes 1 --new-passcode-fd 3 3<right
            mkdir new; cp "$(readlink -f "$(command -v keychain)")" new/keychain
            for command in list 'get mail alice' unlock 'unlock --passcode-fd 0' status; do
                echo "$command"; new/keychain $command <right >out; echo "$?"
            done
            grep daemon out; new/keychain status --json 2>/dev/null | grep -o '"caller":".*/new/keychain"'
            new/keychain list --group "$HOME/new/keychain"; echo "$?"
            printf own | new/keychain set own alice; echo "$?"; keychain list | grep own
            printf own | new/keychain set own alice --group "$HOME/new/keychain"; new/keychain list
            printf own | new/keychain internet set https://example.org --account a; echo "$?"
            new/keychain db create new.db; echo "$?"; test -e new.db || echo none
            new/keychain watch --since 0 --once; echo "$?"
            """)
        expect(
            outcome,
            """
            {"passcode":true}
            list
            1
            get mail alice
            44
            unlock
            1
            unlock --passcode-fd 0
            1
            status
            1
            daemon    answers, and takes this program for '.../new/keychain'
            "caller":".../new/keychain"
            0
            1
            own\talice\t.../new/keychain
            1
            1
            none
            1
            """)
        let errors = outcome.errors.split(separator: "\n")
        try #require(errors.count == 10, "\(outcome.errors)")
        for error in errors {
            #expect(error.contains("not for its owner's tool"))
            #expect(error.contains("restart keychaind if keychain was installed anew"))
        }
        #expect(errors[0].contains("does not hold the right 'list'"))
        #expect(errors[1].hasPrefix("keychain: no such item; "))
        #expect(errors[2].contains("does not hold the right 'unlock'"))
        #expect(errors[4].hasPrefix("keychain: the daemon tells this program of no items: "))
        #expect(errors[5].hasPrefix("keychain: nothing was stored: "))
    }

    /// Another program must not get the owner's secret, or give the owner one, by storing under the same name first.
    @Test func anItemOfAnotherProgramTakesTheOwnersPlaceNowhere() throws {
        let outcome = try served(
            """
            mkdir new; cp "$(readlink -f "$(command -v keychain)")" new/keychain
            printf planted | new/keychain set bank alice --group "$HOME/new/keychain"
            for command in 'get bank alice' 'info bank alice' 'delete bank alice' \\
                'run --env SECRET=keychain://bank/alice -- sh -c :' \\
                'security find-generic-password -s bank -a alice -w'; do
                keychain $command; echo "$?"
            done
            printf real | keychain set bank alice; echo "$?"
            keychain get bank alice; echo
            printf other | keychain set bank alice; keychain get bank alice; echo
            security add-generic-password -U -s bank -a alice -w third; keychain get bank alice; echo
            new/keychain get bank alice 2>/dev/null; echo
            keychain delete bank alice; echo "$?"
            keychain get bank alice --group "$HOME/new/keychain"; echo
            keychain list | grep bank
            """)
        expect(
            outcome,
            """
            44
            44
            44
            44
            44
            0
            real
            other
            third
            planted
            0
            planted
            bank\talice\t.../new/keychain
            """)
        let told = outcome.errors.split(separator: "\n").filter { $0.contains("new/keychain'") }
        #expect(told.count == 5, "\(outcome.errors)")
        #expect(told[0].contains("no such item in the group 'keychain'; other programs have one in"))
        #expect(told[0].contains("choose it with --group"))
        #expect(told.contains { $0.contains("this made a new item") })
    }

    /// `status` makes no vault, also not at a place that is misspelled.
    @Test func aPlaceWithoutAVaultStaysWithoutOne() throws {
        let outcome = try workplace.shell(
            """
            unset KEYCHAIN_MODE; export KEYCHAIN_HOME="$HOME/none"
            for command in status 'status --check' 'status --verify' 'erase --yes'; do
                keychain $command; echo "$?"
            done
            test -e none || echo nothing
            """)
        expect(outcome, "44\n69\n44\n44\nnothing")
        #expect(outcome.errors.split(separator: "\n").count { $0.contains("there is no vault at") } == 4)
    }

    /// The daemon makes the backup, and the command that is no owner's tool gets none.
    @Test func theDaemonMakesTheBackup() throws {
        let outcome = try served(
            """
            printf lost | keychain set local alice --accessible when-unlocked-this-device-only
            head -c 300000 /dev/zero | keychain set large alice --binary
            printf 'password' > typed
            keychain backup new.backup --password-fd 3 3< typed
            stat -c %a new.backup; test -e home || echo no other vault
            keychain backup --for-this-device own.backup
            keychain backup --verify own.backup; echo "status $?"
            mkdir other; cp "$(readlink -f bin/keychain)" other/keychain
            other/keychain backup none.backup --for-this-device; echo "status $?"
            ls none.backup* 2>/dev/null
            end; unset KEYCHAIN_SOCKET; export KEYCHAIN_HOME="$HOME/served"
            keychain backup --verify own.backup
            KEYCHAIN_HOME="$HOME/next" keychain backup restore new.backup --password-fd 3 3< typed
            KEYCHAIN_HOME="$HOME/next" keychain list
            KEYCHAIN_HOME="$HOME/next" keychain get large alice | wc -c
            """)
        expect(
            outcome,
            """
            backup                          .../new.backup
            items                           2
            for this device only, left out  1
            600
            no other vault
            backup  .../own.backup
            items   3
            status 1
            status 1
            backup  .../own.backup
            items   3
            vault           .../next
            items restored  2
            passcode        not set: `keychain passcode set`
            large...alice...
            mail...alice...
            300000
            """)
        #expect(outcome.errors.contains("a daemon serves the vault: stop it to work with a backup"))
        #expect(outcome.errors.contains("does not hold the right 'administer'"))
    }

    /// A daemon has the device secret in memory, and works on without the file. The vault would be gone with it.
    @Test func aLostDeviceSecretIsToldWhileTheDaemonRuns() throws {
        let outcome = try served(
            """
            keychain status --check && echo sound
            keychain recovery put-back
            mv served/device-secret away
            keychain get mail alice; echo
            keychain status --check 2>&1; echo "status $?"
            keychain status | grep problem
            keychain status --json | grep -o '"problems":.*' | cut -c 1-60
            mkdir other; cp "$(readlink -f bin/keychain)" other/keychain
            other/keychain recovery put-back; echo "status $?"
            test -e served/device-secret || echo still gone
            keychain recovery put-back; cmp served/device-secret away && echo the same
            printf other > served/device-secret
            keychain status | grep problem
            keychain recovery put-back --json; cat served/device-secret.found-1; echo
            keychain status --check && echo sound
            end; unset KEYCHAIN_SOCKET; export KEYCHAIN_HOME="$HOME/served"
            keychain get mail alice; echo
            keychain recovery put-back; echo "status $?"
            """)
        expect(
            outcome,
            """
            sound
            secret
            keychain: .../served/device-secret is gone. ...`keychain recovery put-back`...
            status 65
            problem   .../served/device-secret is gone. ...
            "problems":[{"kind":"device-secret","text":"...
            status 1
            still gone
            the device secret is in its place again
            the same
            problem   .../served/device-secret is not the one of this vault any more. ...
            {"other":".../served/device-secret.found-1","written":true}
            other
            sound
            secret
            status 1
            """)
        #expect(outcome.errors.contains("the device secret is in its place: nothing was written"))
        #expect(outcome.errors.contains("no daemon serves this vault"))
    }

    /// A change of the entitlements that the daemon did not take over looks like one that it did.
    @Test func aMistakeInTheEntitlementsIsTold() throws {
        let outcome = try served(
            """
            keychain status | grep problem
            printf '{"version": 1,\n "rules": [{"uid": 0, "grups": ["*"]}]}' > none; chmod 600 none
            until keychain status | grep problem; do sleep 0.1; done
            keychain status --json | grep -o '"kind":"entitlements","text":"[^:]*: [^ ]*none:[0-9:]*'
            keychain status --check; echo "status $?"
            mkdir other; cp "$(readlink -f bin/keychain)" other/keychain
            other/keychain status --json | grep -c problems
            printf '{"version": 1, "rules": []}' > none
            while keychain status | grep -q problem; do sleep 0.1; done; echo mended
            """)
        expect(
            outcome,
            """
            problem   the entitlements file has a mistake, and the rules before it stay in force: .../none:2:32: ...'grups'...
            "kind":"entitlements","text":"the entitlements file has a mistake, and the rules before it stay in force: .../none:2:32:
            status 0
            0
            mended
            """)
        #expect(outcome.errors.contains("keychain: the entitlements file has a mistake"))
    }

    /// The operator sees every group with the lowest quota that a rule sets, and a program its own.
    @Test func theStatusTellsHowMuchGroupsHold() throws {
        let outcome = try served(
            """
            mkdir other; cp "$(readlink -f bin/keychain)" other/keychain
            printf '{"version": 1, "rules": [{"executable": "%s", "groups": ["TEAM.mail"], "quota": 4000},
                {"userUnit": "x.service", "groups": ["TEAM.mail"], "quota": 3000},
                {"userUnit": "y.service", "groups": ["TEAM.mail"]}]}' "$(readlink -f other/keychain)" > none; chmod 600 none
            until other/keychain entitlements show | grep -q TEAM.mail; do sleep 0.1; done
            printf x | other/keychain set s a --group "$(readlink -f other/keychain)"; printf x | other/keychain set s b --group TEAM.mail --label L
            keychain status | grep ^group | sort
            keychain status --json | grep -o '"groups":\\[[^]]*\\]'
            printf '%.0sx' $(seq 4000) | other/keychain set s c --group TEAM.mail 2>/dev/null; echo "status $?"
            other/keychain status | grep ^group
            other/keychain get --label L 2>&1 | grep -o "the daemon lets this program.*right 'list'"
            other/keychain get s b --group TEAM.mail; echo
            """)
        expect(
            outcome,
            """
            group     '.../other/keychain': 1 item, ... of 4000 bytes
            group     'TEAM.mail': 1 item, ... of 3000 bytes
            group     'keychain': 1 item, ... bytes
            "groups":[{"bytes":...,"group":".../other/keychain","items":1,"quota":4000},{"bytes":...,"group":"TEAM.mail","items":1,"quota":3000},{"bytes":...,"group":"keychain","items":1}]
            status 1
            group     '.../other/keychain': 1 item, ... of 4000 bytes
            the daemon lets this program, '.../other/keychain', search its own group alone: ...right 'list'
            x
            """)
    }

    /// A recovery takes the passcode and items for this device only away, and the vault of a daemon opens without it.
    @Test func aVaultThatIsServedIsNotRecovered() throws {
        let outcome = try served(
            """
            printf own | keychain set own alice --accessible when-unlocked-this-device-only
            keychain recovery create > key; printf pw > pw
            keychain backup b --password-fd 3 3<pw >/dev/null; keychain backup own --for-this-device >/dev/null
            keychain recovery restore --yes --key-fd 3 3< key; echo "status $?"
            keychain backup restore b --password-fd 3 3<pw; echo "status $?"
            keychain backup restore own; echo "status $?"
            (unset KEYCHAIN_SOCKET; export KEYCHAIN_HOME="$HOME/served"
            keychain recovery restore --yes --key-fd 3 3< key; echo "status $?"
            keychain backup restore own; echo "status $?")
            test -e .local || echo no other vault
            keychain get own alice; echo
            KEYCHAIN_HOME="$HOME/next" keychain backup restore b --password-fd 3 3<pw | head -1
            end; unset KEYCHAIN_SOCKET; export KEYCHAIN_HOME="$HOME/served"
            keychain backup restore own | head -1
            keychain recovery restore --yes --key-fd 3 3< key | head -1
            """)
        expect(
            outcome,
            """
            status 1
            status 1
            status 1
            status 1
            status 1
            no other vault
            own
            vault           .../next
            vault                           .../served
            vault       .../served
            """)
        let errors = outcome.errors.split(separator: "\n").filter { !$0.contains("write this key down") }
        try #require(errors.count == 5, "\(outcome.errors)")
        for index in [0, 1] {
            #expect(errors[index].contains("programs use the daemon at \(workplace.path)/run/socket"))
        }
        #expect(errors[2].contains("a daemon serves the vault: stop it to work with a backup"))
        for index in [3, 4] {
            #expect(errors[index].contains("a daemon serves the vault in \(workplace.path)/served"))
            #expect(errors[index].contains("`systemctl --user stop keychaind.socket keychaind.service`"))
        }
    }

    @Test func oneVaultHasOneDaemon() throws {
        let outcome = try served(
            """
            (daemon --socket "$HOME/second/socket"); echo "status $?"
            test -e second/socket || echo no second socket
            keychain get mail alice
            { kill -9 $first; wait $first; } 2>/dev/null
            daemon --socket "$KEYCHAIN_SOCKET" & first=$!
            until keychain list >/dev/null 2>&1; do kill -0 $first || exit 99; sleep 0.1; done
            keychain get mail alice
            """)
        #expect(outcome.text == "status 1\nno second socket\nsecretsecret", "\(outcome.errors)")
        #expect(outcome.errors.contains("another daemon serves the vault in \(workplace.path)/served"))
    }

    @Test func securityNamesTheFolderOfTheDaemon() throws {
        let outcome = try served(
            """
            for command in default-keychain list-keychains 'find-generic-password -s mail'; do
                security $command | head -1
            done
            security default-keychain -s "$HOME/served"
            """)
        let folder = "\(workplace.path)/served"
        expect(outcome, "    \"\(folder)\"\n    \"\(folder)\"\nkeychain: \"\(folder)\"")
        #expect(outcome.errors.isEmpty)
    }
}
