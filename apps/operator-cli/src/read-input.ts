import { createReadStream } from 'node:fs';
import type { Shell } from './shell.ts';

/**
 * Reads a file, or standard input for `-`.
 *
 * @throws {Error} if it cannot be read, if it is larger than `maxBytes`, or if standard input is a terminal
 */
export async function readInput({ stdin }: Shell, path: string, maxBytes: number): Promise<Buffer> {
  const name = path === '-' ? 'Standard input' : path;
  if (path === '-' && stdin.isTTY === true) throw new Error('Standard input is a terminal. Name a file, or pipe one.');
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of path === '-' ? stdin : createReadStream(path)) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > maxBytes) break;
    }
  } catch (cause) {
    throw new Error(`${name} cannot be read.`, { cause });
  }
  if (bytes > maxBytes) throw new Error(`${name} is larger than ${maxBytes.toLocaleString('en')} bytes.`);
  return Buffer.concat(chunks);
}
