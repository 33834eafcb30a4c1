# Writes the lines that each test of a JavaScript runner executes: sh node.sh OUT TESTS RUNNER SCRIPT. TESTS has rows of number, pattern of the
# name, and file. SCRIPT turns a report of V8 or Istanbul into lines.
#
# Jest and Vitest load and transform a file whole, which takes most of their time: its tests run together, and each has the lines of all.
out=$1
report=/tmp/ghostbench-cover
covered=
while IFS="	" read -r number pattern file; do
  if [ "$3" != node ] && [ "$file" = "$covered" ]; then
    cp "$lines" "$out/$number.lines" || exit 1
    continue
  fi
  rm -rf "$report"
  mkdir -p "$report"
  case $3 in
    node)
      # Some versions do not report the file of a test. Each process writes a report of its own.
      [ -f "$file" ] || file=
      NODE_V8_COVERAGE=$report node --test --test-name-pattern="$pattern" ${file:+"$file"} >&2 </dev/null ;;
    jest)
      ./node_modules/.bin/jest --ci --runInBand --coverage --coverageReporters=json --coverageDirectory="$report" \
        --runTestsByPath "$file" >&2 </dev/null ;;
    vitest)
      ./node_modules/.bin/vitest run --coverage.enabled --coverage.reporter=json --coverage.reportsDirectory="$report" "$file" >&2 </dev/null ;;
  esac
  covered=$file lines=$out/$number.lines
  node "$4" "$report" > "$lines" || exit 1
done < "$2"
