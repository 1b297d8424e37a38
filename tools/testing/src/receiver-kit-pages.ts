import { readFileSync } from 'node:fs';

const pages = [
  'README.md',
  'docs/frameworks.md',
  'docs/stores.md',
  'docs/slow-handlers.md',
  'docs/reconcile.md',
  'docs/secrets.md',
  'docs/reference.md',
];

/** The pages of `packages/webhook-receiver`, one after the other, in the order in which tests expect their blocks of code. */
export function readReceiverKitPages(): string {
  return pages
    .map((page) => readFileSync(new URL(`../../../packages/webhook-receiver/${page}`, import.meta.url), 'utf8'))
    .join('\n');
}
