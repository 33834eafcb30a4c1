# Writes the lines that each test of a JavaScript runner executes: sh node.sh OUT TESTS RUNNER SCRIPT. TESTS has rows of number, pattern of the
# name, and file. SCRIPT turns a report of V8 or Istanbul into lines.
out=$1
while IFS="	" read -r number pattern file; do
  rm -rf /tmp/ghostbench-cover
  mkdir -p /tmp/ghostbench-cover
  case $3 in
    node)
      # Some versions do not report the file of a test. Each process writes a report of its own.
      [ -f "$file" ] || file=
      NODE_V8_COVERAGE=/tmp/ghostbench-cover node --test --test-name-pattern="$pattern" ${file:+"$file"} >&2 </dev/null ;;
    jest)
      ./node_modules/.bin/jest --ci --runInBand --coverage --coverageReporters=json --coverageDirectory=/tmp/ghostbench-cover \
        -t "$pattern" "$file" >&2 </dev/null ;;
    vitest)
      ./node_modules/.bin/vitest run --coverage.enabled --coverage.reporter=json --coverage.reportsDirectory=/tmp/ghostbench-cover \
        --coverage.thresholds=false -t "$pattern" "$file" >&2 </dev/null ;;
  esac
  node "$4" /tmp/ghostbench-cover > "$out/$number.lines" || exit 1
done < "$2"
