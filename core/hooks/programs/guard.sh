i=$(cat; printf x)
i=${i%x}
b=
w=
case $i in *'"@EVENT@"'*) b=1 ;; esac
note() {
  [ -n "$b" ] && [ "$(wc -c 2>/dev/null <"$d/unanswered" || echo 0)" -lt 65536 ] || return 0
  h=$(printf %.4000s "$i")
  s=${h#*'"session_id"'} && s=${s#*'"'} && s=${s%%'"'*}
  t=${h#*'"tool_name"'} && t=${t#*'"'} && t=${t%%'"'*}
  printf '%s %s %.200s %.100s\n' "$(date +%s)" "$1" "$s" "$t" >>"$d/unanswered"
} 2>/dev/null
[ -S "$d/socket" ] || { note down; exit 0; }
n=0
while :; do
  o=$(printf %s "$i" | ask hook/@AGENT@/@MODE@ "${b:+@PATIENCE@}")
  c=$?
  case $o in
  "wait "*)
    set -- $o
    w=1
    o=$(printf %s "$i" | ask "wait/@AGENT@/$2" "$3")
    c=$?
    ;;
@ANSWER@  esac
  [ "$c" -ne 0 ] && [ -n "$w" ] && [ "$n" -lt 10 ] || break
  n=$((n + 1))
  sleep 0.3
done
if [ "$c" -ne 0 ] && [ -n "$b" ]; then
  case $w$c in
  7 | 127) note down ;;
  *)
    note late
    o=@ASK@
    case $i in *'"bypassPermissions"'* | *'"dontAsk"'* | *'"yolo"'*) o=@DENY@ ;; esac
    [ ! -r "$d/halted" ] || while read -r s; do
      case $i in *"\"$s\""*) o=@DENY@ ;; esac
    done <"$d/halted"
    ;;
  esac
fi
[ -z "$o" ] || printf '%s\n' "$o"
exit 0
