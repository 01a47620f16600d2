import DatabaseFiles

extension ProtectedDatabaseFile {
    /// The database at a path that was given.
    init(path: String) { self.init(path: path, preparing: TextFunctions.add) }
}
