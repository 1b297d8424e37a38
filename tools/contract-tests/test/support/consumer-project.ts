import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { succeed } from './command.ts';
import { workspaceRoot } from './workspace-copy.ts';

const sources = join(workspaceRoot, 'examples');

/** A project outside the workspace that uses the published packages. */
export interface ConsumerProject {
  folder: string;
  npm(...args: string[]): Promise<string>;
  /** Generates the types of its operations and compiles it. */
  build(): Promise<void>;
  /** Starts the compiled project on a Node binary. */
  start(node: string, ...args: string[]): RunningConsumer;
  remove(): Promise<void>;
}

export interface RunningConsumer {
  /** Resolves with the next line that the consumer prints, parsed as JSON. */
  next(): Promise<unknown>;
  kill(): void;
}

/**
 * Creates a project from `examples/<name>` and installs its dependencies with npm.
 *
 * @param pins exact versions of the published packages
 * @param npmConfig contents of the project's `.npmrc`
 */
export async function createConsumer(
  name: string,
  pins: Readonly<Record<string, string>>,
  npmConfig: string,
): Promise<ConsumerProject> {
  const folder = await mkdtemp(join(tmpdir(), `deedwire-consumer-${name}-`));
  await cp(join(sources, 'shared'), folder, { recursive: true });
  await cp(join(sources, name), folder, { recursive: true });
  const { versions, overrides } = await readCatalog();
  const tools = (...names: string[]) => Object.fromEntries(names.map((tool) => [tool, versions.get(tool)]));
  const manifest = {
    private: true,
    type: 'module',
    dependencies: { ...pins, ...tools('graphql', '@graphql-typed-document-node/core') },
    devDependencies: tools(
      '@graphql-codegen/cli',
      '@graphql-codegen/typed-document-node',
      '@graphql-codegen/typescript-operations',
      '@types/node',
      'typescript',
    ),
    overrides,
  };
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  await writeFile(join(folder, '.npmrc'), npmConfig);
  const project: ConsumerProject = {
    folder,
    npm: (...args) => succeed('npm', args, { cwd: folder }),
    async build() {
      await succeed('npx', ['graphql-codegen'], { cwd: folder });
      await succeed('npx', ['tsc'], { cwd: folder });
    },
    start: (node, ...args) => start(node, folder, args),
    async remove() {
      await rm(folder, { recursive: true });
    },
  };
  await project.npm('install', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error');
  return project;
}

function start(node: string, folder: string, args: string[]): RunningConsumer {
  const child = spawn(node, ['built/main.js', ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const errors: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  const printed = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async next() {
      const { done, value } = await printed.next();
      if (done === true) throw new Error(`The consumer ended unexpectedly:\n${Buffer.concat(errors).toString()}`);
      return JSON.parse(value);
    },
    kill: () => void child.kill('SIGKILL'),
  };
}

/** Reads the versions of third-party packages, and the overrides of their dependencies, that this workspace uses. */
async function readCatalog(): Promise<{ versions: Map<string, string>; overrides: Record<string, string> }> {
  const text = await readFile(join(workspaceRoot, 'pnpm-workspace.yaml'), 'utf8');
  const entries = (section: string): [string, string][] => {
    const [, lines = ''] = new RegExp(`^${section}:\\n((?: .*\\n|\\n)+)`, 'm').exec(text) ?? [];
    return [...lines.matchAll(/^ {2}'?([^':#]+)'?: (\S+)$/gm)].map(([, name = '', version = '']) => [name, version]);
  };
  const overrides = entries('overrides').filter(([name]) => !name.includes('>'));
  return { versions: new Map(entries('catalog')), overrides: Object.fromEntries(overrides) };
}
