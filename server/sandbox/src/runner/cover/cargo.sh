# Writes the lines that each test of Rust executes: sh cargo.sh OUT TESTS WRAPPER. TESTS has rows of number, file of the test's binary and
# name; WRAPPER is a compiler that measures the packages of the workspace, not those that they depend on.
out=$1
chmod +x "$3"
version=$(rustc --version --verbose | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
folder=$(rustc --print target-libdir)/../bin
tool() { for name in "$folder/$1" "/usr/lib/llvm-$version/bin/$1" "$1-$version"; do command -v "$name" && return; done; return 1; }
profdata=$(tool llvm-profdata) && cov=$(tool llvm-cov) || exit 1
export LLVM_PROFILE_FILE=/tmp/ghostbench-%p.profraw RUSTC_WORKSPACE_WRAPPER="$3"
cargo test --offline --lib --bins --tests --no-run 2>&1 | tee /tmp/ghostbench-build.txt >&2
rm -f /tmp/ghostbench-*.profraw
while IFS="	" read -r number file name; do
  binary=$(sed -n "s|^ *Executable \(unittests \)\{0,1\}$file (\(.*\))\$|\2|p" /tmp/ghostbench-build.txt | head -1)
  [ -n "$binary" ] || continue
  "$binary" --exact "$name" --test-threads=1 >&2 </dev/null
  "$profdata" merge -sparse /tmp/ghostbench-*.profraw -o /tmp/ghostbench.profdata &&
    "$cov" export --format=lcov --instr-profile=/tmp/ghostbench.profdata "$binary" | awk -F: '
      $1 == "SF" { print }
      $1 == "DA" { split($2, line, ","); if (line[2] > 0) print line[1] "-" line[1] }
    ' > "$out/$number.lines"
  rm -f /tmp/ghostbench-*.profraw
done < "$2"
