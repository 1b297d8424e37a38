import { readFileSync } from 'node:fs';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { InputError } from '../input-error.ts';
import { childPointer } from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';
import type { SourceText } from '../text-file.ts';
import type { Manifest } from './manifest.ts';

const schemaFile = new URL('../../manifest.schema.json', import.meta.url);

let compiled: ReturnType<typeof compile> | undefined;

function compile() {
  const schema: object = JSON.parse(readFileSync(schemaFile, 'utf8'));
  return new Ajv2020({ allowUnionTypes: true }).compile<Manifest>(schema);
}

/**
 * Reads a manifest.
 *
 * @throws {InputError} when the manifest is invalid. The message contains the JSON Pointer of the invalid value.
 */
export function readManifest(source: SourceText): Manifest {
  const document = parseJson(source);
  compiled ??= compile();
  const { value } = document;
  if (compiled(value)) return value;
  const { pointer, problem } = describe(compiled.errors ?? []);
  throw new InputError(
    source.file,
    document.lineOf(pointer),
    `${pointer === '' ? 'the manifest' : pointer} ${problem}`,
  );
}

/**
 * The error with the deepest place. For a limit, which is a number or an object, this selects the form that was meant.
 */
function describe(errors: readonly ErrorObject[]): { pointer: string; problem: string } {
  const placed = errors.map((error) => ({ pointer: pointerOf(error), problem: error.message ?? 'is not valid' }));
  const [first, ...rest] = placed;
  if (first === undefined) return { pointer: '', problem: 'is not valid' };
  const deepest = rest.reduce((best, error) => (depth(error.pointer) > depth(best.pointer) ? error : best), first);
  return {
    ...deepest,
    problem: deepest.problem === 'must NOT have additional properties' ? 'is not a known member' : deepest.problem,
  };
}

function pointerOf({ instancePath, keyword, params }: ErrorObject): string {
  const extra: unknown = params['additionalProperty'];
  return keyword === 'additionalProperties' && typeof extra === 'string'
    ? childPointer(instancePath, extra)
    : instancePath;
}

function depth(pointer: string): number {
  return pointer.split('/').length;
}
