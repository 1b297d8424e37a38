import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { copyWorkspace, type WorkspaceCopy } from './workspace-copy.ts';

/** Someone who runs `pnpm new` in a copy of this workspace, and then follows only what `pnpm check` says. */
export interface Contributor {
  readonly workspace: WorkspaceCopy;
  /** The commands of the current test. */
  readonly commands: readonly string[];
  /** Runs a command of the workspace, and expects no stack trace in its output, whether it fails or not. */
  contribute: (...args: string[]) => Promise<string>;
  check: () => Promise<Outcome>;
  expectGreenTree: () => Promise<void>;
  edit: (path: string, ...replacements: [from: string | RegExp, to: string][]) => void;
  write: (path: string, text: string) => Promise<void>;
}

export interface Outcome {
  /** The names of the failed checks, sorted. Empty if all passed. */
  failed: string[];
  output: string;
}

/** The instruction in a scaffolded file. */
export const instructionLine = /^ *\/\/ FILL IN: .*\n/m;

/** The tests of a file share the copy. After each of them, it is as before. */
export function useContributor(): Contributor {
  let workspace: WorkspaceCopy;
  let commands: string[] = [];

  beforeAll(async () => {
    workspace = await copyWorkspace({ NO_COLOR: '1' });
  }, 120_000);
  afterAll(() => workspace.remove());
  beforeEach(() => {
    commands = [];
  });
  afterEach(async () => {
    await workspace.git('reset', '--quiet', '--hard');
    await workspace.git('clean', '--quiet', '--force', '-d');
  });

  async function contribute(...args: string[]): Promise<string> {
    commands.push(`pnpm ${args.join(' ')}`);
    const output = await workspace.pnpm(...args).catch((error: unknown) => String(error));
    expect(output).not.toMatch(/^\s+at \S.*:\d+:\d+\)?$/m);
    return output;
  }

  async function check(): Promise<Outcome> {
    const output = await contribute('check');
    expect(output).toMatch(/^(?:ok {4}|FAILED) generated files/m);
    const failed = Array.from(output.matchAll(/^FAILED (.+) \([\d.]+ s\)$/gm), ([, name = '']) => name);
    return { failed: failed.toSorted(), output };
  }

  return {
    get workspace() {
      return workspace;
    },
    get commands() {
      return commands;
    },
    contribute,
    check,

    async expectGreenTree() {
      const { failed, output } = await check();
      expect({ failed, output: failed.length > 0 ? output : '' }).toEqual({ failed: [], output: '' });
    },

    edit(path, ...replacements) {
      const file = join(workspace.folder, path);
      let text = readFileSync(file, 'utf8');
      for (const [from, to] of replacements) {
        const edited = text.replace(from, to);
        if (edited === text) throw new Error(`${path} does not contain ${from}:\n${text}`);
        text = edited;
      }
      writeFileSync(file, text);
    },

    async write(path, text) {
      const file = join(workspace.folder, path);
      await mkdir(dirname(file), { recursive: true });
      writeFileSync(file, text);
    },
  };
}

/** The lines of the check `unfinished`: a path, with a line number if it is a file, and an instruction. */
export function unfinished(output: string): string[] {
  const [, lines = ''] = /^FAILED unfinished .*\n((?:[\w./-]+: .*\n|[\w./-]+:\d+: .*\n)+)/m.exec(output) ?? [];
  return lines.split('\n').flatMap((line) => /^(.+?)(?::\d+)?: /.exec(line)?.[1] ?? []);
}
