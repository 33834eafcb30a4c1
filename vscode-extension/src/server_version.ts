// Whether a server fits this extension: both have the version of one release.

/** Whether the messages of two versions are the same: before 1.0, a minor version may change them. */
export function isCompatible(server: string, extension: string): boolean {
  const [ours, theirs] = [parts(extension), parts(server)];
  return ours[0] === theirs[0] && (ours[0] !== "0" || ours[1] === theirs[1]);
}

function parts(version: string): string[] {
  return version.split(".");
}
