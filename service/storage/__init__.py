"""The service's storage: tables in a database, contents of files in a store."""
