import ArgumentParser
import CommandKit

/// Protects files, so that they can be read only while their protection class is open.
struct FileCommand: DocumentedCommand {
    static let summary = "Protect files, so that they can be read only while their class is open."
    static let details = """
        A protected file is encrypted under a key of its own. The vault hands out the key according to the file's \
        class:

        complete: while the vault is unlocked. complete-unless-open: the same, but files can be made and written while \
        it is locked, too. until-first-unlock: from the first unlock until the daemon ends, or without a daemon until \
        this command ends. none: always, to those who can use the vault.

        A file is protected in place, and keeps its name, owner, permissions, times, extended attributes and holes. \
        Whatever happens meanwhile, the name leads to the old file or to the new one, whole. In a folder all files are \
        done, as many at a time as there are processors. If the command was interrupted, run it again, and it goes on \
        from there. Symbolic links and files under a password are left alone; files with several hard links are \
        refused. The data of a plain file can stay on the disk, in free space and in snapshots, until something else \
        is written there.

        Encrypt data that must be read elsewhere under a password, with `keychain file encrypt` and `decrypt`, which \
        need no keychain.
        """
    static let examples = [
        Example("Protect a folder", "keychain file protect ~/Records --class complete"),
        Example("Read a file", "keychain file cat ~/Records/tax.pdf > /dev/shm/tax.pdf"),
        Example("See what a file is", "keychain file info ~/Records/tax.pdf"),
        Example("Check that nothing is damaged", "keychain file verify ~/Records"),
        Example("Take a file along under a password", "keychain file encrypt tax.pdf --output /media/stick/tax.kcp"),
    ]
    static let configuration = documented(
        "file",
        subcommands: [
            ProtectCommand.self, UnprotectCommand.self, CatCommand.self, FileInfoCommand.self, SetClassCommand.self,
            VerifyFileCommand.self, EncryptFileCommand.self, DecryptFileCommand.self,
        ])
}
