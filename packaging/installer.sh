#!/bin/sh
# Installs ghostbench {{ version }} into ~/.local/bin, or the folder in GHOSTBENCH_INSTALL_DIR.
#
# GHOSTBENCH_DOWNLOADS is another address of the release's files, such as a mirror.
set -eu

downloads=${GHOSTBENCH_DOWNLOADS:-{{ downloads }}}
folder=${GHOSTBENCH_INSTALL_DIR:-$HOME/.local/bin}

fail() {
    echo "ghostbench-installer: $1" >&2
    exit 1
}

# Prints the platforms whose programs may run here, the best one first, as targets of rustc.
platforms() {
    case $(uname -m) in
        x86_64 | amd64) processor=x86_64 ;;
        aarch64 | arm64) processor=aarch64 ;;
        *) fail "there is no archive for the processor $(uname -m); build it with cargo" ;;
    esac
    case $(uname -s) in
        Darwin) echo "$processor-apple-darwin" ;;
        # The program for musl runs everywhere; the one for glibc needs a version that is not too old.
        Linux) echo "$processor-unknown-linux-gnu $processor-unknown-linux-musl" ;;
        *) fail "there is no archive for $(uname -s); build it with cargo" ;;
    esac
}

# Prints the checksum of an archive of this release, or nothing.
checksum_of() {
    case $1 in
{% for archive in archives if archive.file is endingwith(".tar.gz") %}
        {{ archive.triple }}) echo {{ archive.sha256 }} ;;
{% endfor %}
    esac
}

download() {
    if command -v curl >/dev/null; then
        curl --fail --silent --show-error --location --output "$2" "$1"
    elif command -v wget >/dev/null; then
        wget --quiet --output-document="$2" "$1"
    else
        fail "neither curl nor wget is installed"
    fi
}

sha256() {
    if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

# Downloads, checks and unpacks the archive of a platform.
fetch() {
    download "$downloads/ghostbench-$1.tar.gz" "$temporary/archive" || fail "the download of the archive for $1 failed"
    actual=$(sha256 "$temporary/archive")
    [ "$actual" = "$2" ] || fail "the archive for $1 has the checksum $actual instead of $2"
    tar -xzf "$temporary/archive" -C "$temporary"
}

main() {
    candidates=$(platforms)
    temporary=$(mktemp -d)
    trap 'rm -rf "$temporary"' EXIT
    for triple in $candidates; do
        checksum=$(checksum_of "$triple")
        [ -n "$checksum" ] || continue
        fetch "$triple" "$checksum"
        program=$temporary/ghostbench-$triple/ghostbench
        version=$("$program" --version 2>/dev/null) || continue
        mkdir -p "$folder"
        # A running ghostbench keeps its old file.
        mv -f "$program" "$folder/ghostbench"
        echo "installed $version in $folder"
        case :$PATH: in
            *:"$folder":*) ;;
            *) echo "add $folder to your PATH" ;;
        esac
        return
    done
    fail "the release has no program that runs here; tried: $candidates"
}

# The shell has read everything when this line runs, so half a download does nothing.
main
