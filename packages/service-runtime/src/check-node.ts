// Apps import this file before any other, and it imports nothing: other modules cannot be loaded by an old Node.

/** What is read of a `package.json`. */
export interface RunningPackage {
  readonly name: string;
  /** `node` is a minimum, for example `>=22.19`. */
  readonly engines: { readonly node: string };
}

/** What is wrong with a version of Node, for example `20.20.2`. Null if the package runs on it. */
export function nodeProblem({ name, engines }: RunningPackage, version: string): string | null {
  const minimum = engines.node.replace('>=', '');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = minimum.split('.').map(Number);
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return null;
  return `${name} needs Node ${minimum} or later, but runs on ${version}. Install a later version.`;
}

/** Ends the process with one line on standard error and exit code 1 if the package does not run on this Node. */
export function checkNode(running: RunningPackage): void {
  const problem = nodeProblem(running, process.versions.node);
  if (problem === null) return;
  process.stderr.write(`${problem}\n`);
  process.exit(1);
}
