#!/usr/bin/env bash
# Replaces the API key of a caller without an interruption: the new key is added, the caller changes, the old one goes.
# Prints the new key; its hash goes into the environment file of the service.
#
#   ./rotate-key.sh NAME ENVIRONMENT-FILE
set -euo pipefail

name=$1 file=$2
gateway=${GATEWAY_BINARY:-lightstreamer-gateway}
variable=GATEWAY_AUTH_KEYS_$(tr '[:lower:]-' '[:upper:]_' <<<"$name")

output=$("$gateway" key)
key=$(sed -n 's/^key: //p' <<<"$output")
hash=$(sed -n 's/^hash: //p' <<<"$output")

# The present key stays valid under the name …_OLD until the next rotation.
present=$(sed -n "s/^${variable}_HASH=//p" "$file")
sed -i "/^${variable}_HASH=/d; /^${variable}_OLD_HASH=/d" "$file"
if [[ -n $present ]]; then printf '%s_OLD_HASH=%s\n' "$variable" "$present" >>"$file"; fi
printf '%s_HASH=%s\n' "$variable" "$hash" >>"$file"

printf '%s\n' "$key"
# An environment file is read at start: systemctl restart. Keys in a configuration file change by SIGHUP alone.
