/** A claim of docs/threats/claims.md. */
export interface Claim {
  /** The heading above it. */
  readonly section: string;
  readonly claim: string;
  /** Files of tests, each with parts of titles in it. */
  readonly proofs: readonly { readonly file: string; readonly titles: readonly string[] }[];
}

/** The items of the lists of the page: a line with the claim, then one with its proofs. */
export function claimsOf(page: string): Claim[] {
  return page
    .split(/^#{2,3} /m)
    .slice(1)
    .flatMap((part) =>
      [...part.matchAll(/^- (.+)(?:\n {2}(.+))?$/gm)].map(([, claim = '', proofs = '']) => ({
        section: part.split('\n', 1).join(),
        claim,
        proofs: [...proofs.matchAll(/`([^`"]+\.test\.ts)` ((?:"[^"]+"(?:, )?)+)/g)].map(
          ([, file = '', titles = '']) => ({
            file,
            titles: [...titles.matchAll(/"([^"]+)"/g)].map(([, title = '']) => title),
          }),
        ),
      })),
    );
}
