import ArgumentParser
import CommandKit

/// SQLite databases that are encrypted as a whole.
struct DatabaseCommand: DocumentedCommand {
    static let summary = "Encrypt SQLite databases as a whole, under keys from the keychain."
    static let details = """
        Every page of an encrypted database and of its journals is encrypted and authenticated. Each database has a \
        key of its own. The keychain keeps it, and hands it out according to the database's class:

        complete: while the vault is unlocked. complete-unless-open: the same, but a database that is open stays open. \
        until-first-unlock: from the first unlock on. none: always, to those who can use the vault.

        Programs open such a database with the library ProtectedDatabase; this command is for its owner. The \
        database's file comes with a second one, NAME-….pages, which says which copy of each page is the last. Copies \
        and backups need both files, and move renames both.

        encrypt, decrypt and rekey write a copy beside the database, for which there has to be room. The copy takes \
        the database's name once it is on the disk. Whatever happens meanwhile, the name leads to the old database or \
        to the new one, whole.

        export writes a SQLCipher file, import makes a database from one, and shell runs SQL on one. keep-key stores \
        the key of a SQLCipher file in the keychain. dump writes a database as SQL, and diff compares two.
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
            RekeyDatabaseCommand.self, SetDatabaseClassCommand.self, MoveDatabaseCommand.self, DatabaseInfoCommand.self,
            VerifyDatabaseCommand.self, RecoverDatabaseCommand.self, ShellCommand.self, ExportDatabaseCommand.self,
            ImportDatabaseCommand.self, KeepKeyCommand.self, ForgetDatabaseCommand.self, DumpDatabaseCommand.self,
            DiffDatabasesCommand.self,
        ])
}
