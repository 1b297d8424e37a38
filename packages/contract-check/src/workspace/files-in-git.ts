import { posix } from 'node:path';
import type { ContractKind } from '../config/config.ts';
import { referencedFiles } from '../json-schema/schema-document.ts';
import type { PackageFiles } from '../source/package-files.ts';
import type { SourceText } from '../text-file.ts';

/**
 * The paths of contracts that no release outside of git contains, and of the files to which they refer.
 *
 * @param outside the files of these releases
 */
export function filesInGit(
  contracts: readonly { readonly kind: ContractKind; readonly path: string; readonly read: () => SourceText }[],
  outside: readonly PackageFiles[],
): string[] {
  return contracts
    .filter(({ path }) => !outside.some((files) => files.has(path)))
    .flatMap(({ kind, path, read }) => [
      path,
      ...(kind === 'json-schema' ? referencedFiles(read()) : []).map((other) => posix.join(posix.dirname(path), other)),
    ]);
}
