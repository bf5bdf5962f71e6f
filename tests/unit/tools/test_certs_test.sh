#!/bin/bash
# tools/make-test-certs: what it makes is good for the roles it names, and for no others. usage: test_certs_test.sh WORK
set -euo pipefail
make=$(dirname "$(realpath "$0")")/../../../tools/make-test-certs
rm -rf "$1" && mkdir -p "$1" && cd "$1"

wrong() { echo "FAILED: $*"; exit 1; }
"$make" one alice bob
"$make" two
[ "$(ls one | tr '\n' ' ')" = "alice.key alice.pem bob.key bob.pem ca.pem server.key server.pem " ] || wrong "files: $(ls one)"
verify() { openssl verify -purpose "$1" -CAfile "$2" "${@:4}" "$3" >/dev/null 2>&1; }

verify sslserver one/ca.pem one/server.pem -verify_ip 127.0.0.1 || wrong "the server's certificate is not for 127.0.0.1"
verify sslserver one/ca.pem one/server.pem -verify_hostname localhost || wrong "the server's certificate is not for localhost"
! verify sslserver one/ca.pem one/server.pem -verify_ip 127.0.0.2 || wrong "the server's certificate is for any address"
verify sslclient one/ca.pem one/alice.pem || wrong "alice is no client"
! verify sslserver one/ca.pem one/alice.pem || wrong "alice may be a server"
! verify sslclient one/ca.pem one/server.pem || wrong "the server may be a client"
! verify sslclient two/ca.pem one/alice.pem || wrong "one CA trusts the other's client"
openssl x509 -noout -subject -in one/bob.pem | grep -q 'CN = bob$' || wrong "bob's common name"
[ "$(stat -c %a one/alice.key)" = 600 ] || wrong "others may read a key"
! "$make" three '../up' 2>/dev/null || wrong "a client's name may be a path"
echo "passed"
