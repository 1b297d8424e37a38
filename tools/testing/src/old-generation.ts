import assert from 'node:assert';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { getHeapSpaceStatistics } from 'node:v8';

/**
 * Runs a script that calls `printOldBytes`, and returns the bytes. In its own process, because what V8 has learned from other
 * code decides where it creates objects, and with a young generation of 1 MB, in which V8 decides it at the first collection.
 */
export async function oldBytesOf(script: URL): Promise<number> {
  const flags = ['--expose-gc', '--min-semi-space-size=1', '--max-semi-space-size=1', '--conditions=deedwire-source'];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, fileURLToPath(script)]);
  return Number(stdout);
}

/** Prints by how many bytes the old generation grows while `step` is called 5,000 times, with a quick collection after each 100. */
export function printOldBytes(step: (number: number) => void): void {
  const collect = globalThis.gc;
  assert(collect !== undefined);
  collect();
  const before = oldBytes();
  for (let number = 0; number < 5_000; number += 1) {
    step(number);
    if (number % 100 === 0) collect({ type: 'minor' });
  }
  process.stdout.write(String(oldBytes() - before));
}

function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? Number.NaN;
}
