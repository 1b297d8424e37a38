import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { succeed } from './command.ts';
import { npmInstall } from './installed-packages.ts';
import { workspaceRoot } from './workspace-copy.ts';

const sources = join(workspaceRoot, 'examples');

/** A project outside the workspace that uses the published packages. */
export interface ConsumerProject {
  folder: string;
  npm(...args: string[]): Promise<string>;
  /** Generates the types of its operations. */
  generate(): Promise<void>;
  compile(): Promise<void>;
  /** Starts the compiled project on a Node binary. */
  start(node: string, ...args: string[]): RunningConsumer;
}

export interface RunningConsumer {
  /** Resolves with the next line that the consumer prints, parsed as JSON. */
  next(): Promise<unknown>;
  kill(): void;
}

/** A folder of consumers that share a code generator and a compiler: both take most of an installation. */
export interface Consumers {
  /**
   * Creates a project from `examples/<name>` and installs its dependencies with npm.
   *
   * @param pins exact versions of the published packages
   */
  create(name: string, pins: Readonly<Record<string, string>>): Promise<ConsumerProject>;
  remove(): Promise<void>;
}

/** @param npmConfig contents of the `.npmrc` of each project */
export async function createConsumers(npmConfig: string): Promise<Consumers> {
  const parent = await mkdtemp(join(tmpdir(), 'deedwire-consumers-'));
  const { versions, overrides } = await readCatalog();
  const atCatalog = (...names: string[]) => Object.fromEntries(names.map((name) => [name, versions.get(name)]));
  const devDependencies = atCatalog(
    'graphql',
    '@graphql-codegen/cli',
    '@graphql-codegen/typed-document-node',
    '@graphql-codegen/typescript-operations',
    '@types/node',
    'typescript',
  );
  await writeFile(join(parent, 'package.json'), JSON.stringify({ private: true, devDependencies, overrides }));
  await npmInstall(parent, []);
  const tool = (name: string): string => join(parent, 'node_modules/.bin', name);
  return {
    async create(name, pins) {
      const folder = join(parent, name);
      await cp(join(sources, 'shared'), folder, { recursive: true });
      await cp(join(sources, name), folder, { recursive: true });
      const dependencies = { ...pins, ...atCatalog('graphql', '@graphql-typed-document-node/core') };
      await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies }));
      await writeFile(join(folder, '.npmrc'), npmConfig);
      await npmInstall(folder, []);
      return {
        folder,
        npm: (...args) => succeed('npm', args, { cwd: folder }),
        async generate() {
          await succeed(tool('graphql-codegen'), [], { cwd: folder });
        },
        async compile() {
          await succeed(tool('tsc'), [], { cwd: folder });
        },
        start: (node, ...args) => start(node, folder, args),
      };
    },
    remove: () => rm(parent, { recursive: true }),
  };
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
