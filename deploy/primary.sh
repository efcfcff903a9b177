#!/bin/sh
# Prepares the primary. The image runs it once, in a new database.
set -eu
psql -v ON_ERROR_STOP=1 -v own="$POSTGRES_PASSWORD" -v replication="$REPLICATION_PASSWORD" -U postgres -d postgres <<'SQL'
CREATE ROLE appserver LOGIN PASSWORD :'own';
GRANT pg_read_all_stats TO appserver; -- shows the standbys to appserver store status
CREATE DATABASE appserver OWNER appserver;
CREATE ROLE replicator LOGIN REPLICATION PASSWORD :'replication';
SELECT pg_create_physical_replication_slot('standby');
\connect appserver
CREATE EXTENSION pg_trgm;
-- Last, because commits wait for the standby after the next start.
ALTER SYSTEM SET synchronous_standby_names = 'standby';
SQL
echo 'host replication replicator all scram-sha-256' >>"$PGDATA/pg_hba.conf"
