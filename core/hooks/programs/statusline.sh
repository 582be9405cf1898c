i=$(cat; printf x)
i=${i%x}
@BEFORE@[ -S "$d/socket" ] && printf %s "$i" | ask statusline
exit 0
