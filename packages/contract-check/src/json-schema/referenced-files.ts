import { withinStack } from '../input-error.ts';
import type { SourceText } from '../text-file.ts';
import { readSchemaDocument } from './schema-document.ts';

/**
 * The other files to which a schema refers, also over several files, by path relative to its folder.
 *
 * @throws {InputError} when the schema is invalid, or a reference does not resolve.
 */
export function referencedFiles({ readRelative, ...source }: SourceText): string[] {
  const isAlone = !/"\$(?:ref|dynamicRef|recursiveRef)"\s*:\s*"[^#"]/.test(source.text);
  if (isAlone || readRelative === undefined) return [];
  const found: string[] = [];
  const recording: SourceText = {
    ...source,
    readRelative(path) {
      found.push(path);
      return readRelative(path);
    },
  };
  withinStack(source.file, () => readSchemaDocument(recording));
  return found;
}
