#!/usr/bin/env bash
# Replaces the API key of a caller without an interruption: the new key is added, the caller changes, the old one goes.
# Prints the new key; its hash goes into the environment file of the service.
#
#   ./rotate-key.sh NAME ENVIRONMENT-FILE
#
# The configuration file describes both keys without their hashes. A key whose name it does not have is refused.
#
#   auth:
#     keys:
#       NAME: &rights { operations: [read, subscribe], items: ["item*"] }
#       NAME_old: *rights
set -euo pipefail

name=$1 file=$2
gateway=${GATEWAY_BINARY:-lightstreamer-gateway}
variable=GATEWAY_AUTH_KEYS_$(tr '[:lower:]-' '[:upper:]_' <<<"$name")

output=$("$gateway" key)
key=$(sed -n 's/^key: //p' <<<"$output")
hash=$(sed -n 's/^hash: //p' <<<"$output")

# The present key stays valid under the name …_old until the next rotation. Without one, a key that nobody has is the old one.
present=$(sed -n "s/^${variable}_HASH=//p" "$file")
sed -i "/^${variable}_HASH=/d; /^${variable}_OLD_HASH=/d" "$file"
if [[ -z $present ]]; then present=$("$gateway" key | sed -n 's/^hash: //p'); fi
printf '%s_OLD_HASH=%s\n%s_HASH=%s\n' "$variable" "$present" "$variable" "$hash" >>"$file"

printf '%s\n' "$key"
# An environment file is read at start: systemctl restart. Keys in a configuration file change by SIGHUP alone.
