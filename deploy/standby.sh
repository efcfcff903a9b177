#!/bin/sh
# Starts the standby. At the first start it copies the primary.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    rm -rf "$PGDATA"
    copy="$PGDATA.new"
    source="host=${PRIMARY:-primary} port=${PRIMARY_PORT:-5432} user=replicator application_name=standby"
    until rm -rf "$copy" && PGPASSWORD=$REPLICATION_PASSWORD \
        pg_basebackup -d "$source" -D "$copy" -R -X stream -S standby -c fast; do
        sleep 1
    done
    chmod 700 "$copy"
    mv "$copy" "$PGDATA"
fi
exec postgres
