/** The paths of the pages of the portal, after the account. The group is the number of what a page shows. */
const paths = [
  ['subscriptions', /^$/],
  ['subscription', /^subscriptions\/(\d{1,19})$/],
  ['pin', /^subscriptions\/(\d{1,19})\/pin$/],
  ['deliveries', /^deliveries$/],
  ['delivery', /^deliveries\/(\d{1,19})$/],
  ['recover', /^recover$/],
  ['completeness', /^recover\/completeness$/],
  ['verify', /^verify$/],
  ['keys', /^keys$/],
  ['contacts', /^contacts$/],
] as const;

export type PortalPage = (typeof paths)[number][0];

/** The page of a path, and the number in it. Null if there is none: the server responds 404, and the app says so. */
export function findPortalPage(path: string): { name: PortalPage; number: string } | null {
  for (const [name, pattern] of paths) {
    const match = pattern.exec(path);
    if (match) return { name, number: match[1] ?? '' };
  }
  return null;
}
