[ -S "$d/socket" ] || { cat >/dev/null; exit 0; }
ask hook/@AGENT@/@MODE@
exit 0
