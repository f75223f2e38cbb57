"""Where the service keeps what it has: tables in a database, contents of files in a store."""
