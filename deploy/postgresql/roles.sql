-- On the primary, as postgres: psql -v password=… -v replica_password=… -f roles.sql
-- There is no standby yet: without this line, each statement would wait for one.
SET synchronous_commit = local;
CREATE ROLE latchkey LOGIN PASSWORD :'password';
CREATE DATABASE latchkey OWNER latchkey ENCODING 'UTF8' TEMPLATE template0;
CREATE ROLE latchkey_check LOGIN CONNECTION LIMIT 20;
CREATE ROLE latchkey_replica LOGIN REPLICATION PASSWORD :'replica_password';
-- What pg_rewind needs instead of a superuser.
GRANT EXECUTE ON FUNCTION pg_ls_dir(text, boolean, boolean), pg_stat_file(text, boolean), pg_read_binary_file(text),
  pg_read_binary_file(text, bigint, bigint, boolean) TO latchkey_replica;
