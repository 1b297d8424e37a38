import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

export const workspaceRoot = join(import.meta.dirname, '../../..');

/**
 * A file of JSON.
 *
 * @param path relative to the workspace root
 * @throws {Error} that names the file, if it is missing, is not JSON, or does not match
 */
export function readJson<Value>(path: string, schema: z.ZodType<Value>): Value {
  try {
    return schema.parse(JSON.parse(readFileSync(join(workspaceRoot, path), 'utf8')));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new Error(`${path}: ${reason}`, { cause: error });
  }
}
