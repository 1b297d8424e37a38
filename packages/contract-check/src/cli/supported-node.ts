/** What is wrong with a version of Node. Null if contract-check runs on it. The range in package.json excludes more. */
export function unsupportedNode(version: string): string | null {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 12)) return null;
  return `needs Node 22.12, 24, or 26 or later, but runs on ${version}. Install one of these versions`;
}
