# Writes the lines that each test of CTest executes: sh ctest.sh OUT TESTS. TESTS has rows of number and pattern of the name.
out=$1
option() { sed -n "s/^$1:STRING=//p" CMakeCache.txt; }
cmake . -DCMAKE_C_FLAGS="$(option CMAKE_C_FLAGS) --coverage" -DCMAKE_CXX_FLAGS="$(option CMAKE_CXX_FLAGS) --coverage" >&2 &&
  cmake --build . >&2 || exit 1
while IFS="	" read -r number pattern; do
  find . -name '*.gcda' -delete
  ctest -R "$pattern" >&2 </dev/null
  # The text of gcov has rows of count, line and code; line 0 names the file.
  find "$PWD" -name '*.gcda' -exec gcov --stdout {} + 2>/dev/null | awk -F: '
    $2 + 0 == 0 && $3 == "Source" { print "SF:" $4 }
    $2 + 0 > 0 && $1 ~ /^ *[0-9]/ { print $2 + 0 "-" $2 + 0 }
  ' > "$out/$number.lines"
done < "$2"
