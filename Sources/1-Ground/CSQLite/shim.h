#include <sqlite3.h>

// Swift cannot call functions with a variable number of arguments.
static inline int csqlite_refuse_double_quoted_text(sqlite3 *connection) {
  int code = sqlite3_db_config(connection, SQLITE_DBCONFIG_DQS_DDL, 0, (void *)0);
  return code == SQLITE_OK ? sqlite3_db_config(connection, SQLITE_DBCONFIG_DQS_DML, 0, (void *)0) : code;
}

// What another program wrote into the schema does nothing: no triggers, no views, and no way to change the schema as text
// (sqlite.org/c3ref/c_dbconfig_defensive.html).
static inline int csqlite_distrust_schema(sqlite3 *connection) {
  int code = sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, (void *)0);
  if (code == SQLITE_OK) code = sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (void *)0);
  return code == SQLITE_OK ? sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (void *)0) : code;
}

// Reads the start of the file through the descriptor that SQLite has: a process that closes another one of the file
// loses the locks of all its connections (sqlite.org/howtocorrupt.html, 2.2).
static inline int csqlite_read_start(sqlite3 *connection, void *bytes, int count) {
  sqlite3_file *file = 0;
  int code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (code != SQLITE_OK) return code;
  return file && file->pMethods ? file->pMethods->xRead(file, bytes, count, 0) : SQLITE_MISUSE;
}
