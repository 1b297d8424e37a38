import { z } from 'zod';
import { readText } from '../workspace-files.ts';

/** @throws {Error} that names the file, if it is missing, is not JSON, or does not match */
export function readJson<Value>(path: string, schema: z.ZodType<Value>): Value {
  try {
    return schema.parse(JSON.parse(readText(path)));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new Error(`${path}: ${reason}`, { cause: error });
  }
}
