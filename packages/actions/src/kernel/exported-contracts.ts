import type { IncompleteApp, StoredContracts } from '@deedwire/store/environment';

/** Far more than the contracts of a build have. What is deeper cannot be written by every reader. */
const maxDepth = 100;

/**
 * The contracts by their digests. Those that no build writes are left out, and make only their app incomplete: a login of an app can
 * store any text.
 */
export function exportedContracts(stored: readonly StoredContracts[]) {
  const contracts: Record<string, unknown> = {};
  const incomplete: IncompleteApp[] = [];
  for (const { app, digest, text } of stored)
    if (isWritten(text)) contracts[digest] = JSON.parse(text);
    else incomplete.push({ app, reason: `the contracts ${digest} are not in the form in which a build writes them` });
  return { contracts, incomplete };
}

function isWritten(text: string): boolean {
  // Before it is written: the indentation of a deeper one would need more memory than there is.
  return depthOf(text) <= maxDepth && `${JSON.stringify(JSON.parse(text), null, 2)}\n` === text;
}

function depthOf(text: string): number {
  let [depth, deepest] = [0, 0];
  for (const [bracket] of text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '').matchAll(/[[\]{}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}
