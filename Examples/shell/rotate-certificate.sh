#!/usr/bin/env bash
# Installs a renewed certificate. SIGHUP makes the gateway read it; open streams go on, new connections get the new one.
# In a deploy hook of certbot, RENEWED_LINEAGE names the folder of the new files.
#
#   ./rotate-certificate.sh FOLDER-OF-THE-NEW-FILES FOLDER-OF-THE-GATEWAY
#   certbot renew --deploy-hook "/usr/local/bin/rotate-certificate.sh '' FOLDER-OF-THE-GATEWAY"
set -euo pipefail

source=${1:-$RENEWED_LINEAGE} target=$2
install -m 0644 "$source/fullchain.pem" "$target/certificate.pem.new"
install -m 0640 "$source/privkey.pem" "$target/key.pem.new"
# Both are complete before either takes its place.
mv "$target/key.pem.new" "$target/key.pem"
mv "$target/certificate.pem.new" "$target/certificate.pem"
if command -v systemctl >/dev/null; then systemctl reload lightstreamer-gateway || true; fi
