import Foundation
import TestSupport
import Testing

/// `keychain integrate`: what it writes is what the other program reads, and it takes back exactly that.
@Suite struct IntegrateTests {
    struct Case: CustomTestStringConvertible {
        var program: String
        var file: String
        /// The file before; nil if there is none.
        var text: String?
        /// A command that prints what the program reads, and its output.
        var read: String
        var expected: String

        var testDescription: String { "\(program): \(text ?? "no file")" }

        static func git(_ text: String?, _ expected: String = "keychain") -> Case {
            Case(
                program: "git", file: ".gitconfig", text: text, read: "git config --global --get-all credential.helper",
                expected: expected)
        }

        static func docker(_ text: String?) -> Case {
            Case(
                program: "docker", file: ".docker/config.json", text: text,
                read: "python3 -c 'import json; print(json.load(open(\".docker/config.json\"))[\"credsStore\"])'",
                expected: "keychain")
        }

        static func cargo(_ text: String?) -> Case {
            Case(
                program: "cargo", file: ".cargo/config.toml", text: text,
                read: "python3 -c 'import tomllib; print(tomllib.load(open(\".cargo/config.toml\", \"rb\"))"
                    + "[\"registry\"][\"global-credential-providers\"][0])'",
                expected: "cargo-credential-keychain")
        }

        static func aws(_ text: String?) -> Case {
            Case(
                program: "aws", file: ".aws/config", text: text,
                read: "python3 -c 'import configparser; c = configparser.ConfigParser(); c.read(\".aws/config\"); "
                    + "print(c[\"default\"][\"credential_process\"])'",
                expected: "keychain aws default")
        }
    }

    @Test(
        arguments: [
            .git(nil), .git(""), .git("[user]\n\tname = Alice\n"), .git("[user]\n\tname = Alice"),
            .git("[credential]\n\tusername = alice\n[core]\n\teditor = vi\n"),
            .git("[credential]\n\thelper = cache\n", "keychain\ncache"), .git("[credential]\n\tusername = a"),
            .git("[user]\r\n\tname = Alice\r\n"), .git("[user]\r\n\tname = Alice"),
            .git("[credential]\r\n\tusername = alice\r\n[core]\r\n\teditor = vi\r\n"),
            .git("[credential]\r\n\thelper = cache\r\n", "keychain\ncache"),
            .git("\u{FEFF}[credential]\r\n\tusername = alice\r\n"),
            .docker(nil), .docker("{}"), .docker("{\"auths\":{}}"),
            .docker("{\n\t\"auths\": {},\n\t\"detachKeys\": \"a\"\n}\n"),
            .docker("{\r\n\t\"auths\": {}\r\n}\r\n"), .cargo("[registry]\r\ndefault = \"x\"\r\n"),
            .aws("[default]\r\nregion = eu-west-1\r\n"), .aws("[other]\r\nregion = x\r\n"),
            .cargo(nil), .cargo("[net]\ngit-fetch-with-cli = true\n"),
            .cargo("[registry]\ndefault = \"x\"\n\n[net]\nretry = 2\n"),
            .cargo("[registries.local]\nindex = \"sparse+http://localhost/\"\n"),
            .aws(nil), .aws("[default]\nregion = eu-west-1\n\n[profile other]\nregion = us-east-1\n"),
            .aws("[profile default2]\nregion = eu-west-1"),
        ] as [Case])
    func isReadAndTakenBack(_ example: Case) throws {
        let workplace = try Workplace()
        let url = URL(fileURLWithPath: "\(workplace.path)/\(example.file)")
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        if let text = example.text { try Data(text.utf8).write(to: url) }
        let before = try workplace.shell("keychain integrate | grep '^\(example.program)'").text
        #expect(before.split(separator: "\t")[1] == "no")
        let added = try workplace.shell(
            "keychain integrate \(example.program) --yes > shown; keychain integrate \(example.program) > again\n"
                + "\(example.read); cat again; keychain integrate | grep '^\(example.program)' | cut -f2")
        #expect(added.text == "\(example.expected)\nyes\n", "\(added.errors)")
        let removed = try workplace.shell("keychain integrate \(example.program) --remove --yes")
        #expect(removed.status == 0, "\(removed.errors)")
        // Foundation would take away a mark of the byte order.
        let after = (try? Data(contentsOf: url)).map { String(decoding: $0, as: UTF8.self) }
        switch example.text {
        case nil, "": #expect(after == nil || after == "{\n}\n")
        case let text?:
            let isSame = [text, text + "\n", text + "\r\n"].contains(after) || after == "{\n}" && text == "{}"
            #expect(isSame, "\(after ?? "no file")")
        }
    }

    /// A setting that somebody made stays.
    @Test(arguments: [
        ("docker", ".docker/config.json", "{\"credsStore\": \"secretservice\"}"),
        ("docker", ".docker/config.json", "[]"), ("docker", ".docker/config.json", "{\"auths\": "),
        ("docker", ".docker/config.json", "no JSON"),
        ("cargo", ".cargo/config.toml", "[registry]\nglobal-credential-providers = [\n  \"cargo:token\"]\n"),
        ("cargo", ".cargo/config.toml", "registry.default = \"x\"\n"),
        ("cargo", ".cargo/config.toml", "registry = { default = \"x\" }\n"),
        ("aws", ".aws/config", "[default]\ncredential_process = other\n"),
        ("podman", ".config/containers/registries.conf.d/keychain.conf", "credential-helpers = [\"other\"]\n"),
    ])
    func nothingIsOverwritten(_ program: String, _ file: String, _ text: String) throws {
        let workplace = try Workplace()
        let url = URL(fileURLWithPath: "\(workplace.path)/\(file)")
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
        let outcome = try workplace.shell("keychain integrate \(program) --yes")
        #expect(outcome.status == 1 && outcome.errors.contains("which is in the way: change it with an editor"))
        #expect(outcome.errors.contains(url.path))
        #expect(try String(contentsOf: url, encoding: .utf8) == text)
    }

    /// The lines that are added end as the others do.
    @Test func endsOfLinesStay() throws {
        let workplace = try Workplace()
        let outcome = try workplace.shell(
            #"""
            printf '[credential]\r\n\thelper = store\r\n' > .gitconfig; keychain integrate git --yes > shown; od -c .gitconfig > bytes
            grep -c '\[credential\]' .gitconfig; grep -c "$(printf '\r')\$" .gitconfig; wc -l < .gitconfig
            mkdir .docker .aws; printf '{\r\n\t"auths": {}\r\n}\r\n' > .docker/config.json
            printf '[other]\r\nregion = x\r\n' > .aws/config
            for name in docker aws; do keychain integrate $name --yes > shown; done
            for file in .docker/config.json .aws/config; do grep -c "$(printf '\r')\$" $file; wc -l < $file; done
            """#)
        #expect(outcome.text == "1\n3\n3\n4\n4\n5\n5\n", "\(outcome.errors)")
        #expect(outcome.errors.contains("git also gives each password to 'store': delete that line"))
    }

    /// A pipe by its name would keep the command waiting, and a device has no end.
    @Test(arguments: ["mkfifo", "mkdir", "ln -s /dev/zero", "ln -s /dev/tty"])
    func onlyRegularFilesAreRead(_ make: String) throws {
        let workplace = try Workplace()
        let files = [
            ("git", ".gitconfig"), ("docker", ".docker/config.json"), ("cargo", ".cargo/config.toml"),
            ("aws", ".aws/config"),
            ("podman", ".config/containers/registries.conf.d/keychain.conf"),
            ("portal", ".config/xdg-desktop-portal/portals.conf"),
            ("session-bus", ".config/systemd/user/keychaind.service.d/session-bus.conf"),
        ]
        for (program, file) in files {
            let outcome = try workplace.shell(
                """
                mkdir -p "$(dirname \(file))"; \(make) \(file)
                for action in --yes '--yes --remove'; do timeout 20 keychain integrate \(program) $action; echo $?; done
                keychain integrate | grep '^\(program)' | cut -f2
                """)
            #expect(outcome.text == "1\n1\nno\n", "\(program) \(outcome.errors)")
            #expect(outcome.errors.contains("\(file): "), "\(outcome.errors)")
        }
        let run = try workplace.shell(
            """
            \(make) in
            timeout 20 keychain run --env-file in -- true; echo $?; timeout 20 keychain run --template A=in -- true; echo $?
            """)
        #expect(run.text == "1\n1\n", "\(run.text)\(run.errors)")
        #expect(run.errors.contains("in: is not a regular file: name a file of settings") || make == "ln -s /dev/tty")
    }

    @Test func linksAndModesStay() throws {
        let workplace = try Workplace()
        let outcome = try workplace.shell(
            """
            mkdir dotfiles; printf '[user]\\n\\tname = A\\n' > dotfiles/git; chmod 640 dotfiles/git
            ln -s dotfiles/git .gitconfig
            keychain integrate git --yes > shown; readlink .gitconfig; stat -c %a dotfiles/git
            printf '[credential]\\nhelper = store\\n' >> dotfiles/git
            keychain integrate git
            ls -A dotfiles
            keychain integrate git </dev/null --remove || echo $?
            ln -sf nowhere/config .gitconfig; keychain integrate git --yes > shown || echo $?
            """)
        #expect(
            outcome.text == """
                dotfiles/git
                640
                git
                \(workplace.path)/.gitconfig loses
                    [credential]
                    \thelper = keychain
                36
                1

                """, "\(outcome.errors)")
        #expect(outcome.errors.contains("git also gives each password to 'store': delete that line"))
        #expect(outcome.errors.contains("there is nobody to confirm it, and nothing was changed: say --yes"))
    }

    /// Files of whole settings, with the path of the daemon that belongs to this `keychain`.
    @Test func wholeFiles() throws {
        let workplace = try Workplace()
        let outcome = try workplace.shell(
            """
            for name in podman portal session-bus; do keychain integrate $name --yes > shown; done
            cat .config/containers/registries.conf.d/keychain.conf .config/xdg-desktop-portal/portals.conf
            grep -c '^ExecStart=/.*/keychaind --session-bus$' .config/systemd/user/keychaind.service.d/session-bus.conf
            grep Name= .local/share/dbus-1/services/org.freedesktop.secrets.service
            for name in podman portal session-bus; do keychain integrate $name --yes --remove > shown; done
            find .config .local -type f
            """)
        #expect(
            outcome.text == """
                credential-helpers = ["keychain"]
                [preferred]
                org.freedesktop.impl.portal.Secret=keychain
                1
                Name=org.freedesktop.secrets

                """, "\(outcome.errors)")
    }

    @Test func passwordsInPlainTextAreCounted() throws {
        let workplace = try Workplace()
        let outcome = try workplace.shell(
            """
            mkdir .docker; echo '{"auths": {"a": {"auth": "eDp5"}, "b": {}, "c": {"auth": "eDp6"}}}' > .docker/config.json
            keychain integrate docker --yes > shown
            """)
        #expect(
            outcome.errors == "keychain: the file has 2 passwords in plain text: `docker login` again moves each\n")
    }
}
