import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { findFreePort } from '@deedwire/embedded-postgres';
import { eventually } from '@deedwire/testing';
import { workspaceRoot } from '../workspace-copy.ts';

/** The command of the package, in the folder of an installed example. */
export const command = 'node_modules/@deedwire/service/dist/bin.js';

const programs = {
  'webhook-worker': [command, 'worker'],
  'customer-api': [command, 'interface', 'customer'],
  shop: ['src/shop.ts'],
} as const;

export type ProgramName = keyof typeof programs;
export const programNames = ['webhook-worker', 'customer-api', 'shop'] as const satisfies readonly ProgramName[];

const endWithParent = join(workspaceRoot, 'tools/dev-environment/src/end-with-parent.js');

export interface Program {
  /** Where the shop or the API listens. */
  url: string;
  /** Resolves with the exit code, or the signal, once the process has ended. */
  end(signal: NodeJS.Signals): Promise<number | string | null>;
}

/**
 * Starts a process of an installed example.
 *
 * @throws {Error} with its output if it ends before it is ready
 */
export async function startProgram(
  folder: string,
  name: ProgramName,
  env: Readonly<Record<string, string>>,
): Promise<Program> {
  const [port, adminPort] = [await findFreePort(), await findFreePort()];
  const child = spawn(process.execPath, ['--import', endWithParent, ...programs[name]], {
    cwd: folder,
    env: { ...process.env, ...env, SHOP_PORT: String(port), PORT: String(port), ADMIN_PORT: String(adminPort) },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr].filter((each) => each !== null))
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = once(child, 'close').then(() => child.exitCode ?? child.signalCode);
  const url = `http://127.0.0.1:${port}`;
  const readyUrl = name === 'shop' ? url : `http://127.0.0.1:${adminPort}/ready`;
  // The shop has no page at its root.
  const readyStatus = name === 'shop' ? 404 : 200;
  const ready = eventually(async () => {
    const { status } = await fetch(readyUrl);
    if (status !== readyStatus) throw new Error(`${name} is not ready:\n${output}`);
  });
  const early = ended.then((end) =>
    Promise.reject(new Error(`${name} ended (${end}) before it was ready:\n${output}`)),
  );
  try {
    await Promise.race([ready, early]);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  return {
    url,
    end(signal) {
      child.kill(signal);
      return ended;
    },
  };
}
