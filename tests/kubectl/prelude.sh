# Read before each command of a transcript.

# follow LAST CHANGES COMMAND...: shows a command's output up to the line that matches LAST and ends it. The changes are made
# once its first line is there.
follow() {
  local last=$1 changes=$2 line
  shift 2
  exec 3< <(exec "$@" 2>&1)
  local pid=$!
  while IFS= read -r -t 60 line <&3; do
    printf '%s\n' "$line"
    [ -z "$changes" ] || { eval "$changes" >/dev/null; changes=; }
    [[ ! $line =~ $last ]] || break
  done
  kill "$pid" 2>/dev/null
  exec 3<&-
}
