import CLibrary
import CommandKit
import FoundationEssentials
import SystemLibraries

/// A program that keeps its secrets elsewhere, and what its configuration needs to keep them here.
enum Integration: String, CaseIterable {
    case git, docker, podman, cargo, aws, portal
    case sessionBus = "session-bus"
    case firefox, chromium, chrome, brave, edge, vivaldi

    /// The programs that use it.
    var programs: String {
        switch self {
        case .git: "git"
        case .docker: "docker"
        case .podman: "podman, skopeo and buildah"
        case .cargo: "cargo"
        case .aws: "AWS tools, for the profile `default`"
        case .portal: "Flatpak applications"
        case .sessionBus: "programs that ask for the session bus's Secret Service"
        case .firefox: "Firefox, with the extension KeePassXC-Browser"
        case .chromium: "Chromium, with the extension KeePassXC-Browser"
        case .chrome: "Google Chrome, with the extension KeePassXC-Browser"
        case .brave: "Brave, with the extension KeePassXC-Browser"
        case .edge: "Microsoft Edge, with the extension KeePassXC-Browser"
        case .vivaldi: "Vivaldi, with the extension KeePassXC-Browser"
        }
    }

    /// What one file gets.
    struct Change {
        var path: String
        var edit: ConfigurationEdit
    }

    /// - Parameter bin: The folder with our programs.
    func changes(bin: String) -> [Change] {
        let home = Self.home
        let configuration = Environment.path(in: "XDG_CONFIG_HOME") ?? home + "/.config"
        func line(_ path: String, _ header: String, _ line: String, isOnly: Bool = true) -> Change {
            Change(path: path, edit: .line(line, under: header, isOnly: isOnly))
        }
        switch self {
        case .git:
            // git-config(1): the second file is used only without the first one.
            let second = configuration + "/git/config"
            let isSecond = !Self.exists(home + "/.gitconfig") && Self.exists(second)
            let path = Environment.path(in: "GIT_CONFIG_GLOBAL") ?? (isSecond ? second : home + "/.gitconfig")
            return [line(path, "[credential]", "\thelper = keychain", isOnly: false)]
        case .docker:
            let folder = Environment.path(in: "DOCKER_CONFIG") ?? home + "/.docker"
            return [Change(path: folder + "/config.json", edit: .dockerStore("keychain"))]
        case .podman:
            // A file in this folder changes one setting; registries.conf itself would replace the system's.
            return [
                Change(
                    path: configuration + "/containers/registries.conf.d/keychain.conf",
                    edit: .file("credential-helpers = [\"keychain\"]\n"))
            ]
        case .cargo:
            let folder = Environment.path(in: "CARGO_HOME") ?? home + "/.cargo"
            // Cargo prefers the name that older versions used.
            let path = Self.exists(folder + "/config") ? folder + "/config" : folder + "/config.toml"
            return [line(path, "[registry]", "global-credential-providers = [\"cargo-credential-keychain\"]")]
        case .aws:
            let path = Environment.path(in: "AWS_CONFIG_FILE") ?? home + "/.aws/config"
            return [line(path, "[default]", "credential_process = keychain aws default")]
        case .portal:
            return [
                line(
                    configuration + "/xdg-desktop-portal/portals.conf", "[preferred]",
                    "org.freedesktop.impl.portal.Secret=keychain")
            ]
        case .sessionBus:
            let data = Environment.path(in: "XDG_DATA_HOME") ?? home + "/.local/share"
            return [
                Change(
                    path: configuration + "/systemd/user/keychaind.service.d/session-bus.conf",
                    edit: .file(Self.unit(bin: bin))),
                Change(
                    path: data + "/dbus-1/services/org.freedesktop.secrets.service", edit: .file(Self.activation)),
            ]
        case .firefox, .chromium, .chrome, .brave, .edge, .vivaldi:
            let browsers = BrowserManifest(program: bin + "/keychain-browser")
            let folder = browsers.folder(self, home: home, configuration: configuration)
            return [Change(path: "\(folder)/\(BrowserManifest.file)", edit: .file(browsers.text(self)))]
        }
    }

    /// What the daemon's unit gets besides, for the session bus (systemd.unit(5)).
    private static func unit(bin: String) -> String {
        """
        [Unit]
        After=dbus.socket

        [Service]
        ExecStart=
        ExecStart=\(bin)/keychaind --session-bus

        """
    }

    /// Has the bus start the daemon's unit.
    private static let activation = """
        [D-BUS Service]
        Name=org.freedesktop.secrets
        Exec=/bin/false
        SystemdService=keychaind.service

        """

    /// What else is to be known, once the files have the change.
    func notes(_ changes: [Change]) -> [String] {
        switch self {
        case .git:
            let text = changes.first.flatMap { try? $0.text() } ?? ""
            let others = ConfigurationEdit.lines(of: text).map { $0.filter { !$0.isWhitespace } }
                .filter { $0.hasPrefix("helper=") && $0 != "helper=keychain" && $0 != "helper=" }
            guard !others.isEmpty else { return [] }
            let names = others.map { $0.dropFirst("helper=".count) }.joined(separator: "', '")
            return ["git also gives each password to '\(names.escapedForTerminal)': delete that line"]
        case .docker:
            let count = changes.first.flatMap { try? $0.text() }.map(Self.plainPasswords) ?? 0
            guard count > 0 else { return [] }
            let passwords = count == 1 ? "a password" : "\(count) passwords"
            return ["the file has \(passwords) in plain text: `docker login` again moves \(count == 1 ? "it" : "each")"]
        case .sessionBus:
            return ["now run `systemctl --user daemon-reload`, and stop another program that has the service"]
        case .firefox, .chromium, .chrome, .brave, .edge, .vivaldi:
            return ["now add the extension KeePassXC-Browser to the browser, and click Connect in its window"]
        case .podman, .cargo, .aws, .portal: return []
        }
    }

    private static var home: String {
        Environment.path(in: "HOME") ?? getpwuid(getuid()).map { String(cString: $0.pointee.pw_dir) } ?? "/"
    }

    /// Returns how many passwords docker's configuration has in itself.
    private static func plainPasswords(in text: String) -> Int {
        struct Configuration: Decodable {
            struct Login: Decodable { var auth: String? }
            var auths: [String: Login]?
        }
        let configuration = try? JSONDecoder().decode(Configuration.self, from: Data(text.utf8))
        return configuration?.auths?.values.count { $0.auth?.isEmpty == false } ?? 0
    }

    private static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }
}
