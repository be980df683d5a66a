-- On the standby, as postgres, when the primary is off and cannot come back by itself: psql -f promote.sql
-- Afterwards there is no standby: commits must not wait for one until the former primary is rebuilt as a standby, and
-- pg_stat_replication shows it. Then:
--   ALTER SYSTEM RESET synchronous_standby_names; SELECT pg_reload_conf();
ALTER SYSTEM SET synchronous_standby_names = '';
SELECT pg_reload_conf();
SELECT pg_promote();
