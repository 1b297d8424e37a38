/** `pnpm new`: writes the files of a new event type or version, with plop, from the templates in `scripts/new/`. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { readChosenLayout } from '../tools/layout/src/layout.ts';
import { endWithReader } from './end-with-reader.ts';
import { openPlop } from './new/plopfile.ts';

const help = `Usage: pnpm new event <type> <version> <interface>
       pnpm new event-version <type> <version>
       pnpm new interface-version <interface> <version>

Options: --service <folder> for another service than the first one that the package.json of the repository lists

Writes the files of a preview. An event of every interface has the interface "all". For example:
  pnpm new event order.canceled 2027-06-01 customer
An event <noun>.updated says in \`changed\` what the change replaced.
TODO marks what you have to write: \`pnpm check\` fails until no TODO is left.
In a terminal, asks for missing arguments.
Exit codes: 0 success, 1 nothing was written, 2 invalid usage, 74 the output cannot be written.
`;

endWithReader();
// pnpm starts scripts in the root of the workspace.
const root = process.cwd();
const claim = 'Another `pnpm new` runs, or was killed. If it was killed, run `git restore . && git clean --force -d`.';
const { name, values, folder } = readArguments(process.argv.slice(2));
const layout = await readChosenLayout(folder).catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(2);
});
/** The repository of the service. */
const repository = layout.root.startsWith('..') ? join(root, layout.root) : root;
/** Exists while changes are written: two processes would undo each other's. `pnpm check` fails for what a killed one leaves. */
const unfinished = join(repository, repository === root ? '.changeset' : 'src', 'unfinished.md');
const plop = await openPlop(root, layout);
const kinds = plop.getGeneratorList().map((generator) => generator.name);
if (['--help', 'help'].includes(name)) {
  process.stdout.write(help);
} else if (!kinds.includes(name) || !isUsage()) {
  const problem =
    name === '' || kinds.includes(name) ? '' : `pnpm new does not know "${name}". Use ${kinds.join(', ')}.\n\n`;
  process.stderr.write(problem + help);
  process.exitCode = 2;
} else {
  try {
    process.stdout.write(await create());
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)} Nothing was written.\n`);
    process.exitCode = 1;
  }
}

/** The values in the order of the prompts. `_` asks for one. */
function readArguments(args: string[]): { name: string; values: string[]; folder?: string } {
  const options = { service: { type: 'string' } } as const;
  const { values: flags, positionals } = parseArgs({ args, options, allowPositionals: true, strict: false });
  const { service: given, help: asked, h = asked, ...others } = flags;
  const [unknown] = Object.keys(others);
  const [kind = '', ...rest] = positionals;
  if (h !== undefined) return { name: '--help', values: [] };
  if (unknown !== undefined) return { name: `--${unknown}`, values: [] };
  return { name: kind, values: rest, ...(typeof given === 'string' && { folder: given }) };
}

function isUsage(): boolean {
  const expected = Object.keys(plop.getGenerator(name).prompts).length;
  const given = values.filter((value) => value !== '_').length;
  return values.length <= expected && (given === expected || process.stdin.isTTY);
}

async function create(): Promise<string> {
  if (existsSync(unfinished)) throw new Error(claim);
  const answers: Record<string, string> = await plop.getGenerator(name).runPrompts(values);
  requireNoChanges();
  mkdirSync(dirname(unfinished), { recursive: true });
  try {
    writeFileSync(unfinished, `TODO: ${claim}\n`, { flag: 'wx' });
  } catch (cause) {
    throw existsSync(unfinished) ? new Error(claim, { cause }) : cause;
  }
  try {
    // What another one has written, which ended before this one began, is not undone.
    requireNoChanges();
    return await write(answers);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

function requireNoChanges(): void {
  const args = ['status', '--porcelain', '--untracked-files=all', '--', '.', `:!${relative(repository, unfinished)}`];
  const git = spawnSync('git', args, { cwd: repository, encoding: 'utf8' });
  if (git.status !== 0) {
    const [reason = ''] = String(git.error ?? git.stderr).split('\n');
    throw new Error(`Git does not show what is changed: ${reason}. Run this in a clone.`);
  }
  const [changed = ''] = git.stdout.split('\n');
  if (changed !== '')
    throw new Error(
      `The working tree has changes, for example ${changed.slice(3)}. Commit or undo them, so that you see what is new.`,
    );
}

async function write(answers: Record<string, string>): Promise<string> {
  const generator = plop.getGenerator(name);
  const { actions } = generator;
  const changes = typeof actions === 'function' ? actions(answers) : actions;
  const paths = changes.flatMap((change) => (typeof change === 'object' && 'path' in change ? [change.path] : []));
  const undo = paths.map((path) => undoOf(join(root, path)));
  let problem: string | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.once(signal, () => {
      problem = `Interrupted by ${signal}.`;
    });
  const { failures } = await plop.setGenerator(name, { ...generator, actions: changes }).runActions(answers);
  problem ??= failures.at(0)?.error;
  if (problem !== undefined) {
    for (const restore of undo) restore();
    throw new Error(problem);
  }
  const commands =
    folder === undefined
      ? 'the commands of "After each change" in CONTRIBUTING.md'
      : `pnpm generate --service ${folder} and pnpm check --service ${folder}`;
  const check = folder === undefined ? 'pnpm check' : 'the check';
  return `${['Wrote:', ...paths].join('\n  ')}

Next:
  1. Replace each TODO; pnpm check lists them. ${generator.description}
  2. Run ${commands}, until ${check} passes.
`;
}

/** Restores a file, or removes it with the folders that its creation needs. */
function undoOf(file: string): () => void {
  if (existsSync(file)) {
    const text = readFileSync(file);
    return () => {
      // It can be read-only, which is why another one is restored.
      if (!readFileSync(file).equals(text)) writeFileSync(file, text);
    };
  }
  let created = file;
  while (!existsSync(dirname(created))) created = dirname(created);
  return () => rmSync(created, { recursive: true, force: true });
}
