"answer "*)
  set -- $o
  trap 'kill "$c" 2>/dev/null; exit 0' TERM HUP INT
  curl -q -s --fail --noproxy '*' --max-time "$3" --unix-socket "$d/socket" -H "@$d/token" \
    -H 'Content-Type: application/json' --data-binary '{}' \
    "http://localhost/answer/@AGENT@/$2" 2>/dev/null &
  c=$!
  wait "$c"
  exit 0
  ;;
