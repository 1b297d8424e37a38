import { dirname, relative, resolve, sep } from 'node:path';
import { InputError } from '../input-error.ts';
import { decodeSourceText, readSourceText, type SourceText } from '../text-file.ts';
import { readGitFile } from './git-files.ts';
import { npmPackageFiles } from './npm-package.ts';
import { readAmong } from './package-files.ts';
import { packageOf } from './package-of.ts';
import { kindOfPlace } from './place.ts';

const fetchTimeoutMs = 30_000;
const maxFetchedBytes = 64 * 1024 * 1024;

export interface SourceContext {
  /** The other side of the comparison. It gives `npm:NAME@RANGE` the path in the package. */
  readonly other: string;
  /** Reads the standard input to its end. */
  readonly readInput: () => Uint8Array;
}

/**
 * Reads a contract from a file, `-` (the standard input), `git:REF:PATH`, `npm:NAME@RANGE[:PATH]` or an HTTP URL.
 *
 * @throws {InputError} when it cannot be read.
 */
export async function readSource(place: string, { other, readInput }: SourceContext): Promise<SourceText> {
  switch (kindOfPlace(place)) {
    case 'local':
      return readSourceText(place);
    case 'input':
      return { file: 'standard input', text: decodeSourceText('standard input', readInput()) };
    case 'url':
      return readUrl(place);
    case 'git': {
      const [, ref, path] = /^git:([^:]+):(.+)$/.exec(place) ?? [];
      if (ref === undefined || path === undefined) throw new InputError(place, null, 'must be git:REF:PATH');
      return readGitFile(ref, path, '.');
    }
    case 'npm': {
      const [, name = '', path = pathInPackage(place, other)] = /^npm:([^:]+)(?::(.+))?$/.exec(place) ?? [];
      return readAmong(await npmPackageFiles(name), `npm:${name}`, path);
    }
  }
}

/** The path of the other file relative to the folder of its package. */
function pathInPackage(place: string, other: string): string {
  const folder = kindOfPlace(other) === 'local' ? packageOf(dirname(other))?.folder : undefined;
  if (folder === undefined) throw new InputError(place, null, `add the path of the file in the package: ${place}:PATH`);
  return relative(folder, resolve(other)).replaceAll(sep, '/');
}

async function readUrl(url: string): Promise<SourceText> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(fetchTimeoutMs) });
    if (!response.ok) throw new InputError(url, null, `the server answered ${response.status}`);
    return { file: url, text: decodeSourceText(url, await readBody(url, response)) };
  } catch (error) {
    if (error instanceof InputError) throw error;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new InputError(url, null, `cannot be fetched (${cause instanceof Error ? cause.message : String(cause)})`, {
      cause: error,
    });
  }
}

async function readBody(url: string, { body }: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > maxFetchedBytes) throw new InputError(url, null, `is larger than ${maxFetchedBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
