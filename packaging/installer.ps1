# Installs ghostbench {{ version }} into the folder in GHOSTBENCH_INSTALL_DIR, or %LOCALAPPDATA%\Programs\ghostbench.
$ErrorActionPreference = "Stop"

$downloads = if ($env:GHOSTBENCH_DOWNLOADS) { $env:GHOSTBENCH_DOWNLOADS } else { "{{ downloads }}" }
$folder = if ($env:GHOSTBENCH_INSTALL_DIR) { $env:GHOSTBENCH_INSTALL_DIR } else { "$env:LOCALAPPDATA\Programs\ghostbench" }
$checksums = @{
{% for archive in archives if archive.file is endingwith(".zip") %}
    "{{ archive.file }}" = "{{ archive.sha256 }}"
{% endfor %}
}

$file = "ghostbench-x86_64-pc-windows-msvc.zip"
$expected = $checksums[$file]
if (-not $expected) { throw "the release has no $file" }
$archive = Join-Path ([IO.Path]::GetTempPath()) "$([Guid]::NewGuid()).zip"
try {
    Invoke-WebRequest -UseBasicParsing -Uri "$downloads/$file" -OutFile $archive
    $actual = (Get-FileHash -Algorithm SHA256 $archive).Hash.ToLowerInvariant()
    if ($actual -ne $expected) { throw "$file has the checksum $actual instead of $expected" }
    Expand-Archive -Force -Path $archive -DestinationPath $folder
} finally {
    Remove-Item -Force -ErrorAction SilentlyContinue $archive
}
Write-Output "installed $(& "$folder\ghostbench.exe" --version) in $folder"
if (($env:PATH -split ";") -notcontains $folder) { Write-Output "add $folder to your PATH" }
