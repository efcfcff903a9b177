#!/bin/sh
# Creates the secrets of compose.yaml in .env, and the token of clients in client-token.
set -eu
cd "$(dirname "$0")"
[ ! -e .env ] || { echo ".env exists" >&2; exit 1; }
umask 077
openssl rand -hex 32 | tr -d '\n' >client-token
cat >.env <<END
POSTGRES_PASSWORD=$(openssl rand -hex 32)
REPLICATION_PASSWORD=$(openssl rand -hex 32)
FLEET_SECRET=$(openssl rand -hex 32)
CLIENT_TOKEN_SHA256=$(openssl dgst -sha256 -r client-token | cut -d' ' -f1)
END
