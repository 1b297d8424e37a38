import type { ListedVersion } from '../event-versions.ts';

/** The status of a version in a few words. */
export function statusSummary({ status, deprecatedOn, sunsetOn }: ListedVersion): string {
  switch (status) {
    case 'preview':
      return 'preview';
    case 'current':
      return 'released';
    case 'deprecated':
      return `deprecated on ${deprecatedOn}, sunset ${sunsetOn === null ? 'not announced' : `on ${sunsetOn}`}`;
    case 'retired':
      return `retired on ${sunsetOn}`;
  }
}

/** What the status means for a client. */
export function statusExplanation({ status, deprecatedOn, sunsetOn }: ListedVersion): string {
  switch (status) {
    case 'preview':
      return '**Preview.** Not released: it can still change in a breaking way. It is served only to clients that request it by name.';
    case 'current':
      return '**Released.** Changes to it are additions only. No sunset is planned.';
    case 'deprecated':
      return `**Deprecated** on ${deprecatedOn}. It is served unchanged until its sunset ${sunsetOn === null ? '(date not announced)' : `on ${sunsetOn}`}: migrate to a newer version before then.`;
    case 'retired':
      return `**Retired** on ${sunsetOn}. Requests for it are rejected.`;
  }
}
