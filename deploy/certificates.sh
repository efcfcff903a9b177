#!/bin/sh
# certificates.sh DIR NODE_A NODE_B PUBLIC_HOST creates an authority, and certificates for two nodes and
# the load balancer, unless DIR has them.
set -eu
dir=$1 first=$2 second=$3 public=$4
[ ! -e "$dir/ca.pem" ] || exit 0
new=$(mktemp -d)
cd "$new"

key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1"; }

# issue NAME HOST creates a certificate for a host name or an IP address.
issue() {
    kind=DNS
    case $2 in *:* | [0-9]*.[0-9]*.[0-9]*.[0-9]*) kind=IP ;; esac
    key "$1.key"
    openssl req -new -key "$1.key" -subj "/CN=$2" -out "$1.csr"
    printf 'subjectAltName=%s:%s\nextendedKeyUsage=serverAuth\n' "$kind" "$2" >"$1.ext"
    openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 825 -extfile "$1.ext" -out "$1.pem"
}

key ca.key
openssl req -x509 -new -key ca.key -subj "/CN=appserver authority" -days 3650 -out ca.pem
issue "$first" "$first"
issue "$second" "$second"
issue load-balancer "$public"
cat load-balancer.key >>load-balancer.pem
rm -f ./*.csr ./*.ext ./*.srl load-balancer.key

# Nodes run as user 10001, the load balancer as user 99.
if [ "$(id -u)" = 0 ]; then
    chown 10001 "$first.key" "$second.key"
    chown 99 load-balancer.pem
fi
chmod 400 ./*.key load-balancer.pem
chmod 444 "$first.pem" "$second.pem"
mv "$first".* "$second".* load-balancer.pem ca.key "$dir"
mv ca.pem "$dir" # last: it marks the end
