# Writes the lines that each test of Maven executes, as JaCoCo says it: sh maven.sh OUT TESTS LINES. TESTS has rows of number and class. LINES
# is a program that turns JaCoCo's report into lines.
#
# Maven takes seconds to start: the tests of a class run together, and each has the lines of all.
out=$1
tmp=/tmp/ghostbench-cover
report=$tmp/report.exec
# The newest version of a library: in the repository of the user, where JaCoCo's plugin puts it, or that of the system.
newest() {
  for folder in "$HOME/.m2/repository/org/jacoco" "$HOME/.m2/repository/org/ow2/asm" /usr/share/java; do
    found=$(find -L "$folder" -name "$1-[0-9]*$2.jar" 2>/dev/null | grep -v -e -sources -e -javadoc | sort -V | tail -n 1)
    [ -z "$found" ] || break
  done
  echo "$found"
}
mkdir -p "$tmp" || exit 1
agent=$(newest org.jacoco.agent -runtime)
if [ -z "$agent" ]; then
  agent=$tmp/jacocoagent.jar
  (cd "$tmp" && jar xf "$(newest org.jacoco.agent)" jacocoagent.jar && [ -f "$agent" ]) >&2 || exit 1
fi
libraries=$tmp
for name in org.jacoco.core asm asm-commons asm-tree asm-analysis; do
  libraries=$libraries:$(newest "$name")
done
javac -cp "$libraries" -d "$tmp" "$3" >&2 || exit 1
covered=
while IFS="	" read -r number class; do
  if [ "$class" = "$covered" ]; then
    cp "$lines" "$out/$number.lines" || exit 1
    continue
  fi
  rm -f "$report"
  mvn --offline --quiet test -DfailIfNoTests=false -Dtest="$class" -DargLine="-javaagent:$agent=destfile=$report" >&2 </dev/null
  covered=$class lines=$out/$number.lines
  java -cp "$libraries" CoveredLines "$report" target/classes > "$lines" || exit 1
done < "$2"
