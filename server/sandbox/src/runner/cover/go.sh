# Writes the lines that each test of Go executes: sh go.sh OUT TESTS. TESTS has rows of number, package and name.
out=$1
while IFS="	" read -r number package name; do
  if [ "$package" != "$built" ]; then
    go test -c -vet=off -covermode=set -coverpkg=./... -o /tmp/ghostbench.test "$package" >&2 || exit 1
    folder=$(go list -f '{{.Dir}}' "$package") || exit 1
    built=$package
  fi
  (cd "$folder" && /tmp/ghostbench.test -test.run "^$name\$" -test.coverprofile=/tmp/ghostbench.profile) >&2 </dev/null
  # Rows are `file:line.column,line.column statements count`.
  awk '$NF > 0 && $1 != "mode:" {
    split($1, place, ":"); split(place[2], ends, /[.,]/)
    if (place[1] != file) { file = place[1]; print "SF:" file }
    print ends[1] "-" ends[3]
  }' /tmp/ghostbench.profile > "$out/$number.lines"
  rm -f /tmp/ghostbench.profile
done < "$2"
