#!/usr/bin/env bash
# Prints prices as they change. Each line of NDJSON is one event; curl ends when the stream does, and the loop resumes it.
#
#   GATEWAY_TOKEN=… ./follow.sh http://127.0.0.1:8080 [SECONDS]
set -euo pipefail

gateway=$1
query='upstream=demo&mode=MERGE&items=item1,item2&fields=last_price&format=ndjson'
headers=()
if [[ -n ${GATEWAY_TOKEN:-} ]]; then headers=(-H "Authorization: Bearer $GATEWAY_TOKEN"); fi
limit=()
if [[ -n ${2:-} ]]; then limit=(--max-time "$2"); fi

last=
while :; do
    while IFS=$'\t' read -r id item price; do
        last=$id
        printf '%s %s\n' "$item" "$price"
    done < <(curl -sSNf "${limit[@]}" "${headers[@]}" "$gateway/v1/stream?$query${last:+&lastEventId=$last}" \
        | jq --unbuffered -r 'select(.event == "update") | [.id, .data.item, .data.fields.last_price] | @tsv')
    if [[ -n ${2:-} ]]; then exit 0; fi
    sleep $((RANDOM % 3 + 1))
done
