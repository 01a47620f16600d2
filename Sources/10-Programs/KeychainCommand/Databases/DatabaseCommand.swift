import ArgumentParser

/// SQLite databases that are encrypted as a whole.
struct DatabaseCommand: DocumentedCommand {
    static let summary = "Encrypt SQLite databases as a whole, under keys from the keychain."
    static let details = """
        Every page of an encrypted database and of its journals is encrypted and authenticated under a key of its own, which \
        is kept in the keychain and handed out as the database's class says:

        complete: while the vault is unlocked. complete-unless-open: the same, and a database that is open stays open. \
        until-first-unlock: from the first unlock on. none: always, for those who can use the vault.

        Programs open such a database with the library ProtectedDatabase, this command for its owner. Its file comes with \
        a second one, NAME-….pages, which says which copy of each page is the last; copies and backups need both.

        encrypt, decrypt and rekey make a copy beside the database, which takes its name once it is on the disk: there has to \
        be room for it, and whatever happens meanwhile, the name leads to the former database or to the new one, whole.

        SQLCipher files are made with export, taken over with import, and looked into with shell; with keep-key the keychain \
        has the key of one that is there.
        """
    static let examples = [
        Example("Encrypt a database", "keychain db encrypt app.db --class complete"),
        Example("Look something up", "keychain db shell app.db 'SELECT count(*) FROM note'"),
        Example("Change its key", "keychain db rekey app.db"),
    ]
    static let configuration = documented(
        "db",
        subcommands: [
            CreateDatabaseCommand.self, EncryptDatabaseCommand.self, DecryptDatabaseCommand.self,
            RekeyDatabaseCommand.self, SetDatabaseClassCommand.self, DatabaseInfoCommand.self,
            VerifyDatabaseCommand.self, RecoverDatabaseCommand.self, ShellCommand.self, ExportDatabaseCommand.self,
            ImportDatabaseCommand.self,
            KeepKeyCommand.self,
        ])
}
