#!/usr/bin/env bash
# Prints prices as they change. Each line of NDJSON is one event; curl ends when the stream does, and the loop resumes it.
# A final refusal ends the script; otherwise it waits as long as the gateway asks for, or longer from attempt to attempt.
#
#   GATEWAY_TOKEN=… ./follow.sh http://127.0.0.1:8080 [SECONDS]
set -euo pipefail

gateway=$1
query='upstream=demo&mode=MERGE&items=item1,item2&fields=last_price&format=ndjson'
headers=()
if [[ -n ${GATEWAY_TOKEN:-} ]]; then headers=(-H "Authorization: Bearer $GATEWAY_TOKEN"); fi
limit=()
if [[ -n ${2:-} ]]; then limit=(--max-time "$2"); fi
head=$(mktemp)
trap 'rm -f "$head"' EXIT

last=
attempt=0
while :; do
    : >"$head"
    while IFS=$'\t' read -r id item price; do
        last=$id
        attempt=0
        printf '%s %s\n' "$item" "$price"
    done < <(curl -sSNf -D "$head" "${limit[@]}" "${headers[@]}" "$gateway/v1/stream?$query${last:+&lastEventId=$last}" \
        | jq --unbuffered -r 'select(.event == "update") | [.id, .data.item, .data.fields.last_price] | @tsv')
    if [[ -n ${2:-} ]]; then exit 0; fi
    status=$(awk 'NR == 1 { print $2 }' "$head")
    case ${status:-0} in
        408 | 409 | 425 | 429) ;;
        4*) echo "refused with $status" >&2; exit 1 ;;
    esac
    after=$(awk 'tolower($1) == "retry-after:" { print $2 + 0 }' "$head")
    attempt=$((attempt < 5 ? attempt + 1 : 5))
    wait=$((2 ** attempt / 2 + RANDOM % (2 ** attempt)))
    sleep $((wait > ${after:-0} ? wait : after + RANDOM % 3))
done
