#include <sqlite3.h>

// Swift cannot call functions with a variable number of arguments.
static inline int csqlite_refuse_double_quoted_text(sqlite3 *connection) {
  int code = sqlite3_db_config(connection, SQLITE_DBCONFIG_DQS_DDL, 0, (void *)0);
  return code == SQLITE_OK ? sqlite3_db_config(connection, SQLITE_DBCONFIG_DQS_DML, 0, (void *)0) : code;
}
